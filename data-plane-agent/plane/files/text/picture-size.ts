/** The maximum number of pixels of an unpacked image or page. An A3 page at 600 dpi has fewer. */
export const MAX_PIXELS = 80_000_000;

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The size of a PNG, JPEG or WebP from its header; `undefined` if it has none. */
export function sizeOf(picture: Buffer): Size | undefined {
  if (picture.length < 32) return undefined;
  if (picture.readUInt32BE(0) === 0x89504e47)
    return { width: picture.readUInt32BE(16), height: picture.readUInt32BE(20) };
  if (picture.readUInt16BE(0) === 0xffd8) return jpegSize(picture);
  if (picture.toString('latin1', 0, 4) === 'RIFF' && picture.toString('latin1', 8, 12) === 'WEBP')
    return webpSize(picture);
  return undefined;
}

/** Read from the first frame header. */
export function jpegSize(picture: Buffer): Size | undefined {
  for (let at = 2; at + 9 < picture.length;) {
    if (picture[at] !== 0xff) return undefined;
    const marker = picture[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc)
      return { height: picture.readUInt16BE(at + 5), width: picture.readUInt16BE(at + 7) };
    at += 2 + picture.readUInt16BE(at + 2);
  }
  return undefined;
}

function webpSize(picture: Buffer): Size | undefined {
  switch (picture.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: picture.readUIntLE(24, 3) + 1, height: picture.readUIntLE(27, 3) + 1 };
    case 'VP8L': {
      const bits = picture.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case 'VP8 ':
      return { width: picture.readUInt16LE(26) & 0x3fff, height: picture.readUInt16LE(28) & 0x3fff };
    default:
      return undefined;
  }
}
