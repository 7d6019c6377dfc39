import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { misuse } from './errors.js';

/** A file that a command writes: never one that is there already, and readable to who runs the command only. */
export interface OutFile {
  write(text: string): void;
  close(): void;
  /** For what must not be taken for all of it. */
  remove(): void;
}

export function outFile(path: string): OutFile {
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    throw error instanceof Error && 'code' in error && error.code === 'EEXIST'
      ? misuse(`--out ${path} is there already`)
      : error;
  }
  const close = (): void => closeSync(file);
  return {
    write: (text) => {
      // A full disk may take a part of it and say so only of the rest.
      for (let rest = Buffer.from(text); rest.length > 0;) rest = rest.subarray(writeSync(file, rest));
    },
    close,
    remove: () => {
      close();
      unlinkSync(path);
    },
  };
}
