import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { misuse } from './errors.js';

/** A new file that a command writes, readable only by the user who runs the command. */
export interface OutFile {
  write(text: string): void;
  close(): void;
  /** Closes and deletes the file, when it is incomplete. */
  remove(): void;
}

/** `option` is the option that names the file. */
export function outFile(path: string, option = '--out'): OutFile {
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    throw error instanceof Error && 'code' in error && error.code === 'EEXIST'
      ? misuse(`${option} ${path} already exists`)
      : error;
  }
  const close = (): void => closeSync(file);
  return {
    write: (text) => {
      // On a nearly full disk, writeSync may write only a part.
      for (let rest = Buffer.from(text); rest.length > 0;) rest = rest.subarray(writeSync(file, rest));
    },
    close,
    remove: () => {
      close();
      unlinkSync(path);
    },
  };
}
