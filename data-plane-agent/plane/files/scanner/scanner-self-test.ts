import { strToU8, zipSync } from 'fflate';
import { ClamdEnded, type Frame, type Question } from './clamd-stream.js';
import type { ScannerVersion } from './scanner.js';

/** One question to the scanner, and its answer; rejects when there is none. */
type Ask = (question: Omit<Question, 'signal'>) => Promise<string>;

/**
 * What keeps a scanner from being relied on. It is shown a kilobyte or so for each question: EICAR, plain and in an
 * archive; an archive that it cannot get to the bottom of, and one that is encrypted, to neither of which OK may be
 * said; and the announcement alone of a file beyond every limit, and of one as large as we send.
 */
export async function selfTest({
  ask,
  fileMaxBytes,
}: {
  readonly ask: Ask;
  readonly fileMaxBytes: number;
}): Promise<readonly string[]> {
  const faults: string[] = [];
  const about = async (content: Uint8Array): Promise<string> =>
    ask({ command: 'INSTREAM', frames: one(lengthOf(content.length), Buffer.from(content), lengthOf(0)) });

  const plain = await about(eicar());
  if (!isFound(plain)) faults.push(`the scanner does not find the EICAR test file: has it signatures? (${plain})`);
  const packed = await about(zipSync({ 'eicar.com': eicar() }));
  if (!isFound(packed))
    faults.push(`the scanner does not find the EICAR test file in an archive: ScanArchive must be yes (${packed})`);
  const deep = await about(nested());
  if (isOk(deep)) faults.push('the scanner calls clean what is beyond its limits: AlertExceedsMax must be yes');
  const locked = await about(encrypted());
  if (isOk(locked)) faults.push('the scanner calls clean what is encrypted: AlertEncrypted must be yes');
  if (!(await refuses(ask, 0xffff_ffff)))
    faults.push('the scanner does not refuse a file of 4 GiB: StreamMaxLength must be set');
  if (await refuses(ask, fileMaxBytes))
    faults.push(`the scanner does not take a file of FILE_MAX_BYTES (${fileMaxBytes}): StreamMaxLength must be more`);
  return faults;
}

/** How old signatures may be that are renewed several times a day. */
const STALE_MS = 7 * 86_400_000;

/** For an operator: what is old about the scanner's signatures, if anything. Not known is not old. */
export function signatureWarning({ signaturesAt }: ScannerVersion, now: number): string | undefined {
  if (signaturesAt === null || now - signaturesAt <= STALE_MS) return undefined;
  return `the scanner's signatures are ${Math.floor((now - signaturesAt) / 86_400_000)} days old`;
}

const isOk = (answer: string): boolean => answer.endsWith(': OK');
const isFound = (answer: string): boolean => answer.endsWith(' FOUND') && !answer.includes('Heuristics.');

/** The test file that every scanner finds (eicar.org), in parts, so that none finds it in this one. */
const eicar = (): Uint8Array =>
  strToU8(['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-', 'ANTIVIRUS-TEST-FILE!', '$H+H*'].join(''));

/** clamd allows MaxRecursion to be 100 at most. */
function nested(): Uint8Array {
  let content = eicar();
  for (let layer = 0; layer < 101; layer += 1) content = zipSync({ a: content });
  return content;
}

/** Marked as encrypted, as which its bytes then count. */
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
 * It decides when it hears how much is to come: nothing need be sent. One that would take it waits, and ends when we
 * do.
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
