import { zipSync } from 'fflate';
import { onFirstUse } from '../../../base/on-first-use.js';
import type { Frame, Question } from './clamd-stream.js';

/** Sends one command and returns the response; rejects if there is none. */
export type Ask = (question: Omit<Question, 'signal'>) => Promise<string>;

/** Sends content to be scanned. */
export const askToScan = (ask: Ask, content: Uint8Array): Promise<string> =>
  ask({ command: 'INSTREAM', frames: one(lengthOf(content.length), Buffer.from(content), lengthOf(0)) });

/** Sends only the declared length of content, which the scanner refuses at once or waits for. */
export const askToAccept = (ask: Ask, sizeBytes: number): Promise<string> =>
  ask({ command: 'INSTREAM', frames: one(lengthOf(sizeBytes)), endsAfter: true });

async function* one(...frame: Frame): AsyncGenerator<Frame> {
  yield await Promise.resolve(frame);
}

function lengthOf(sizeBytes: number): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(sizeBytes);
  return length;
}

/** The EICAR test file (eicar.org), in parts, so that scanners do not detect this source file. */
export const eicar = (): Uint8Array =>
  Buffer.from(['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-', 'ANTIVIRUS-TEST-FILE!', '$H+H*'].join(''));

/** clamd allows a MaxRecursion of at most 100. */
export const nested = onFirstUse((): Uint8Array => {
  let content = eicar();
  for (let layer = 0; layer < 101; layer += 1) content = zipSync({ a: content });
  return content;
});

/** Only the flags are set: scanners then treat the content as encrypted. */
export function encrypted(): Uint8Array {
  const archive = zipSync({ a: [Buffer.from('twelve bytes, and a few more of them'), { level: 0 }] });
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  for (let at = 0; at + 10 < archive.length; at += 1) {
    const signature = view.getUint32(at, true);
    const flags = signature === 0x04034b50 ? at + 6 : signature === 0x02014b50 ? at + 8 : undefined;
    if (flags !== undefined) view.setUint16(flags, view.getUint16(flags, true) | 1, true);
  }
  return archive;
}

const TAR_BLOCK = 512;

/** A tar archive whose header declares a file of this size, of which it has only the first bytes. */
export function tarOf(sizeBytes: number): Uint8Array {
  const tar = Buffer.alloc(TAR_BLOCK + 64, 'x').fill(0, 0, TAR_BLOCK);
  const octal = (value: number, at: number, digits: number): number =>
    tar.write(value.toString(8).padStart(digits, '0'), at, 'latin1');
  tar.write('a', 0);
  octal(0o644, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(sizeBytes, 124, 11);
  octal(0, 136, 11);
  tar.write('0', 156);
  tar.write('ustar\x0000', 257, 'latin1');
  // The checksum counts its own field as spaces.
  tar.fill(' ', 148, 156);
  octal(
    tar.subarray(0, TAR_BLOCK).reduce((sum, byte) => sum + byte, 0),
    148,
    6,
  );
  tar.write('\0 ', 154, 'latin1');
  return tar;
}
