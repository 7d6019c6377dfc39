import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';

/** The members of a backup in their order, as the program `tar` lists them. */
export const membersIn = (file: string): string[] =>
  execFileSync('tar', ['--list', '--file', file], { encoding: 'utf8' }).trim().split('\n');

/** Changes one byte in the middle of a member, whose header and size stay as they are. */
export function alteredMember(file: string, name: string): void {
  const fd = openSync(file, 'r+');
  try {
    const header = Buffer.alloc(512);
    for (let at = 0; readSync(fd, header, 0, 512, at) === 512;) {
      const size = Number.parseInt(header.toString('latin1', 124, 136), 8);
      if (header.toString('utf8', 0, 100).replace(/\0.*$/, '') === name) {
        const position = at + 512 + Math.floor(size / 2);
        const byte = Buffer.alloc(1);
        readSync(fd, byte, 0, 1, position);
        // A letter or digit becomes another one, so that texts stay readable.
        writeSync(fd, Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, position);
        return;
      }
      at += 512 + Math.ceil(size / 512) * 512;
    }
    throw new Error(`${file} has no member ${name}`);
  } finally {
    closeSync(fd);
  }
}
