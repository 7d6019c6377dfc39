/** The characters in place of the ISO 8859-1 control characters; five positions are undefined and stay unchanged. */
const SIGNS = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/** Decodes Windows-1252. Some Node versions decode it as ISO 8859-1 (nodejs/node#56542). */
export const windows1252 = (bytes: Buffer): string =>
  bytes.toString('latin1').replaceAll(/[\u0080-\u009f]/g, (sign) => SIGNS[sign.charCodeAt(0) - 0x80] ?? sign);
