import { ArchiveFault, damaged, type Budget } from './archive-budget.js';
import type { ByteReader } from './byte-reader.js';
import { inflated } from './inflated.js';

/**
 * The unpacked files of a zip, each to be read to its end before the next. They are read sequentially by their local
 * headers. The directory at the end must list the same files, since readers that start there would otherwise see
 * others.
 */
export async function* zipParts(bytes: ByteReader, budget: Budget): AsyncGenerator<AsyncGenerator<Buffer>> {
  const start = bytes.position;
  const found = new Set<number>();
  for (;;) {
    const at = bytes.position - start;
    const signature = await uint32(bytes);
    if (signature !== LOCAL) return await checkDirectory(bytes, signature, found);
    budget.entries -= 1;
    if (budget.entries < 0) throw new ArchiveFault('holds more files than the limit');
    found.add(at);
    const header = await localHeader(bytes);
    yield header.method === DEFLATED ? deflatedPart(bytes, header) : storedPart(bytes, header);
  }
}

const LOCAL = 0x04034b50;
const DESCRIPTOR = 0x08074b50;
const CENTRAL = 0x02014b50;
const SIGNED = 0x05054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const END = 0x06054b50;
const DEFLATED = 8;
const BEYOND_32 = 0xffffffff;

interface LocalHeader {
  readonly method: number;
  readonly packedBytes: number;
  readonly unpackedBytes: number;
  /** The sizes follow the data in a descriptor, and are 0 here. */
  readonly hasDescriptor: boolean;
}

async function localHeader(bytes: ByteReader): Promise<LocalHeader> {
  const fixed = await exactly(bytes, 26);
  const flags = fixed.readUInt16LE(2);
  const method = fixed.readUInt16LE(4);
  refuseEncrypted(flags, method);
  if (method !== 0 && method !== DEFLATED) throw new ArchiveFault('uses an unknown compression method');
  await exactly(bytes, fixed.readUInt16LE(22)); // the name
  const extra = await exactly(bytes, fixed.readUInt16LE(24));
  const [packedBytes, unpackedBytes] = sizes(fixed.readUInt32LE(14), fixed.readUInt32LE(18), extra);
  return { method, packedBytes, unpackedBytes, hasDescriptor: (flags & 0x8) !== 0 };
}

function refuseEncrypted(flags: number, method: number): void {
  if ((flags & 0x2041) !== 0 || method === 99) throw new ArchiveFault('is encrypted');
}

/** Sizes beyond 32 bits are in the Zip64 field, the unpacked one first. */
function sizes(packed: number, unpacked: number, extra: Buffer): readonly [packed: number, unpacked: number] {
  if (packed !== BEYOND_32 && unpacked !== BEYOND_32) return [packed, unpacked];
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    const both = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
    if (both.length < 16) throw damaged();
    return [Number(both.readBigUInt64LE(8)), Number(both.readBigUInt64LE(0))];
  }
  throw damaged();
}

async function* deflatedPart(bytes: ByteReader, header: LocalHeader): AsyncGenerator<Buffer> {
  const from = bytes.position;
  let unpackedBytes = 0;
  for await (const piece of inflated(bytes)) {
    unpackedBytes += piece.length;
    yield piece;
  }
  const packedBytes = bytes.position - from;
  if (header.hasDescriptor) await readDescriptor(bytes, packedBytes, unpackedBytes);
  else if (packedBytes !== header.packedBytes || unpackedBytes !== header.unpackedBytes) throw damaged();
}

async function* storedPart(bytes: ByteReader, header: LocalHeader): AsyncGenerator<Buffer> {
  if (header.packedBytes !== header.unpackedBytes) throw damaged();
  for (let left = header.packedBytes; left > 0;) {
    const piece = await bytes.next(left);
    if (piece === undefined) throw damaged();
    left -= piece.length;
    yield piece;
  }
  // The end of stored data is known from its size only; directories also have descriptors, without data.
  if (header.hasDescriptor) await readDescriptor(bytes, header.packedBytes, header.unpackedBytes);
}

/** Reads the checksum and sizes, in 32 or 64 bits and with or without a signature: the form that matches the data. */
async function readDescriptor(bytes: ByteReader, packed: number, unpacked: number): Promise<void> {
  const ahead = await bytes.peek(24);
  const signature = ahead.length >= 4 && ahead.readUInt32LE(0) === DESCRIPTOR ? 4 : 0;
  for (const skipped of signature === 4 ? [4, 0] : [0]) {
    const at = skipped + 4;
    if (
      ahead.length >= at + 16 &&
      ahead.readBigUInt64LE(at) === BigInt(packed) &&
      ahead.readBigUInt64LE(at + 8) === BigInt(unpacked)
    )
      return void (await bytes.take(at + 16));
    if (ahead.length >= at + 8 && ahead.readUInt32LE(at) === packed && ahead.readUInt32LE(at + 4) === unpacked)
      return void (await bytes.take(at + 8));
  }
  throw damaged();
}

/** Reads from the first signature after the files to the end. */
async function checkDirectory(bytes: ByteReader, first: number, found: ReadonlySet<number>): Promise<void> {
  const listed = new Set<number>();
  for (let signature = first; ; signature = await uint32(bytes)) {
    if (signature === CENTRAL) listed.add(await directoryEntry(bytes));
    else if (signature === SIGNED) await exactly(bytes, (await exactly(bytes, 2)).readUInt16LE(0));
    else if (signature === END_64) await endOf64(bytes);
    else if (signature === LOCATOR_64) await exactly(bytes, 16);
    else if (signature === END) break;
    else throw damaged();
  }
  await exactly(bytes, (await exactly(bytes, 18)).readUInt16LE(16)); // its comment
  if ((await bytes.next()) !== undefined) throw new ArchiveFault('has data after its end');
  if (listed.size !== found.size || [...listed].some((at) => !found.has(at)))
    throw new ArchiveFault('has a directory that does not list the files it holds');
}

/** The offset of the listed file. */
async function directoryEntry(bytes: ByteReader): Promise<number> {
  const fixed = await exactly(bytes, 42);
  refuseEncrypted(fixed.readUInt16LE(4), fixed.readUInt16LE(6));
  await exactly(bytes, fixed.readUInt16LE(24) + fixed.readUInt16LE(26) + fixed.readUInt16LE(28));
  // Offsets beyond 4 GiB exceed all limits.
  return fixed.readUInt32LE(38);
}

async function endOf64(bytes: ByteReader): Promise<void> {
  const size = Number((await exactly(bytes, 8)).readBigUInt64LE(0));
  if (size > 0xffff) throw damaged();
  await exactly(bytes, size);
}

async function uint32(bytes: ByteReader): Promise<number> {
  return (await exactly(bytes, 4)).readUInt32LE(0);
}

async function exactly(bytes: ByteReader, count: number): Promise<Buffer> {
  const taken = await bytes.take(count);
  if (taken.length < count) throw damaged();
  return taken;
}
