import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateKeyRingText } from '../data-plane-agent/base/secrets.js';

/**
 * The keys of an installation that was given none: made once and kept in its data folder, readable to its owner only. Of two
 * processes that start at once, one makes them and the other reads them.
 */
export function ownSecretKeys(dataDir: string): string {
  const path = ownSecretKeysPath(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  try {
    const made = generateKeyRingText();
    writeFileSync(path, `${made}\n`, { flag: 'wx', mode: 0o600 });
    return made;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return readFileSync(path, 'utf8').trim();
    throw error;
  }
}

/** Where those keys are, whether or not they have been made. */
export const ownSecretKeysPath = (dataDir: string): string => join(dataDir, 'secret-keys');
