import { createHmac } from 'node:crypto';

/**
 * The six digits that an authenticator app shows, implemented from RFC 6238. `steps` of thirty seconds are added to the
 * time, negative ones subtracted.
 */
export function codeOf({ secret, at, steps = 0 }: { secret: string; at: number; steps?: number }): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000) + steps));
  const digest = createHmac('sha1', base32(secret)).update(counter).digest();
  const number = digest.readUInt32BE((digest.at(-1) ?? 0) & 15) & 0x7fff_ffff;
  return String(number % 1_000_000).padStart(6, '0');
}

/** Six digits that are not the code of any nearby step. */
export function wrongCode({ secret, at }: { secret: string; at: number }): string {
  const near = new Set([-2, -1, 0, 1, 2].map((steps) => codeOf({ secret, at, steps })));
  return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !near.has(code)) ?? '';
}

function base32(text: string): Buffer {
  const bits = [...text]
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
