import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateKeyRingText, randomToken } from '../data-plane-agent/base/secrets.js';

/**
 * The keys of an installation that was given none: made once and kept in its data folder, readable to its owner only.
 * Of two processes that start at once, one makes them and the other reads them.
 */
export function ownSecretKeys(dataDir: string): string {
  const path = ownSecretKeysPath(dataDir);
  if (existsSync(path)) return readFileSync(path, 'utf8').trim();
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const made = generateKeyRingText();
  const draft = `${path}.${randomToken(6)}`;
  // Written whole under another name and then linked, so that nobody reads a file that is still empty.
  writeFileSync(draft, `${made}\n`, { flag: 'wx', mode: 0o600 });
  try {
    linkSync(draft, path);
    return made;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return readFileSync(path, 'utf8').trim();
    throw error;
  } finally {
    rmSync(draft);
  }
}

/** Where those keys are, whether or not they have been made. */
export const ownSecretKeysPath = (dataDir: string): string => join(dataDir, 'secret-keys');
