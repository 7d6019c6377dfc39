import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomToken } from '../../data-plane-agent/base/secrets.js';

const pathIn = (dataDir: string): string => join(dataDir, 'demo-password');

/**
 * The password of the demo's members, generated once per installation and stored readable only to its owner: a
 * well-known one would be a back door.
 */
export function demoPassword(dataDir: string): string {
  const kept = keptDemoPassword(dataDir);
  if (kept !== undefined) return kept;
  const password = randomToken(12);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(pathIn(dataDir), `${password}\n`, { flag: 'wx', mode: 0o600 });
  return password;
}

/** The password, if it was generated already. */
export function keptDemoPassword(dataDir: string): string | undefined {
  try {
    return readFileSync(pathIn(dataDir), 'utf8').trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
