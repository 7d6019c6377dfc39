import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes a file that must not exist yet, durably, readable only by its owner. */
export function writeNewFile(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = openSync(path, 'wx', 0o600);
  try {
    // On a nearly full disk, writeSync may write only a part.
    for (let rest = Buffer.from(content); rest.length > 0;) rest = rest.subarray(writeSync(file, rest));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
