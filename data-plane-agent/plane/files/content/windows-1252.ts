/** What it has where ISO 8859-1 has control characters; five places mean nothing, and stay those. */
const SIGNS = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/**
 * Bytes as the code page of western Europe. Node's own decoder takes it for ISO 8859-1 in some versions
 * (nodejs/node#56542).
 */
export const windows1252 = (bytes: Buffer): string =>
  bytes.toString('latin1').replaceAll(/[\u0080-\u009f]/g, (sign) => SIGNS[sign.charCodeAt(0) - 0x80] ?? sign);
