import { strToU8, zipSync } from 'fflate';
import { ClamdEnded, type Frame, type Question } from './clamd-stream.js';
import type { ScannerVersion } from './scanner.js';

/** Sends one command and returns the response; rejects if there is none. */
type Ask = (question: Omit<Question, 'signal'>) => Promise<string>;

/**
 * The faults of a scanner's configuration. About a kilobyte is sent per check: EICAR, plain and archived; an archive
 * beyond all limits and an encrypted one, which must not be OK; and only the declared length of a file beyond the size
 * limit, and of the largest allowed file.
 */
export async function selfTest({
  ask,
  fileMaxBytes,
}: {
  readonly ask: Ask;
  readonly fileMaxBytes: number;
}): Promise<readonly string[]> {
  const faults: string[] = [];
  const scan = async (content: Uint8Array): Promise<string> =>
    ask({ command: 'INSTREAM', frames: one(lengthOf(content.length), Buffer.from(content), lengthOf(0)) });

  const plain = await scan(eicar());
  if (!isFound(plain)) faults.push(`the scanner does not find the EICAR test file: check its signatures (${plain})`);
  const packed = await scan(zipSync({ 'eicar.com': eicar() }));
  if (!isFound(packed))
    faults.push(`the scanner does not find the EICAR test file in an archive: ScanArchive must be yes (${packed})`);
  const deep = await scan(nested());
  if (isOk(deep)) faults.push('the scanner reports archives beyond its limits as clean: AlertExceedsMax must be yes');
  const locked = await scan(encrypted());
  if (isOk(locked)) faults.push('the scanner reports encrypted files as clean: AlertEncrypted must be yes');
  if (!(await refuses(ask, 0xffff_ffff)))
    faults.push('the scanner does not refuse a file of 4 GiB: StreamMaxLength must be set');
  if (await refuses(ask, fileMaxBytes))
    faults.push(
      `the scanner does not accept a file of FILE_MAX_BYTES (${fileMaxBytes}): StreamMaxLength must be larger`,
    );
  return faults;
}

/** The maximum age of signatures, which are normally updated several times a day. */
const STALE_MS = 7 * 86_400_000;

/** A warning for operators when the scanner's signatures are outdated. An unknown age is no warning. */
export function signatureWarning({ signaturesAt }: ScannerVersion, now: number): string | undefined {
  if (signaturesAt === null || now - signaturesAt <= STALE_MS) return undefined;
  return `the scanner's signatures are ${Math.floor((now - signaturesAt) / 86_400_000)} days old`;
}

const isOk = (answer: string): boolean => answer.endsWith(': OK');
const isFound = (answer: string): boolean => answer.endsWith(' FOUND') && !answer.includes('Heuristics.');

/** The EICAR test file (eicar.org), in parts, so that scanners do not detect this source file. */
const eicar = (): Uint8Array =>
  strToU8(['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-', 'ANTIVIRUS-TEST-FILE!', '$H+H*'].join(''));

/** clamd allows a MaxRecursion of at most 100. */
function nested(): Uint8Array {
  let content = eicar();
  for (let layer = 0; layer < 101; layer += 1) content = zipSync({ a: content });
  return content;
}

/** Only the flags are set: scanners then treat the content as encrypted. */
function encrypted(): Uint8Array {
  const archive = zipSync({ a: [strToU8('twelve bytes, and a few more of them'), { level: 0 }] });
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  for (let at = 0; at + 10 < archive.length; at += 1) {
    const signature = view.getUint32(at, true);
    const flags = signature === 0x04034b50 ? at + 6 : signature === 0x02014b50 ? at + 8 : undefined;
    if (flags !== undefined) view.setUint16(flags, view.getUint16(flags, true) | 1, true);
  }
  return archive;
}

/**
 * The scanner decides by the declared length, so that no content is sent. One that would accept it waits until the
 * connection is closed.
 */
async function refuses(ask: Ask, sizeBytes: number): Promise<boolean> {
  const answer = await ask({ command: 'INSTREAM', frames: one(lengthOf(sizeBytes)), endsAfter: true }).catch(
    (error: unknown) => {
      if (error instanceof ClamdEnded) return undefined;
      throw error;
    },
  );
  return answer !== undefined && /size limit exceeded/i.test(answer);
}

async function* one(...frame: Frame): AsyncGenerator<Frame> {
  yield await Promise.resolve(frame);
}

function lengthOf(sizeBytes: number): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(sizeBytes);
  return length;
}
