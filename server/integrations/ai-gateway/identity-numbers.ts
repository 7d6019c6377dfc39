import { countrySpecs, validateIBAN, ValidationErrorsIBAN } from 'ibantools';
import { isSocialCreditCode } from '../../tenants/tax-no.js';

/**
 * Checks of numbers by the rules of their standards. They take letters in upper case and digits, without separators,
 * and each takes constant time.
 */

/** A resident identity number (GB 11643-1999): region, date of birth, sequence, and a check character by ISO 7064. */
export function isResidentId(text: string): boolean {
  if (!CENTURIES.has(text.slice(6, 8))) return false;
  const parts = RESIDENT_ID.exec(text);
  if (!parts) return false;
  const [, year = '', month = '', day = ''] = parts;
  const sum = ID_WEIGHTS.reduce((total, weight, index) => total + weight * (text.charCodeAt(index) - 0x30), 0);
  return ID_CHECKS[sum % 11] === text[17] && isDate(Number(year), Number(month), Number(day));
}

/** The first digit is the region of the country, or 8 and 9 for residents of Hong Kong, Macau, Taiwan and abroad. */
const RESIDENT_ID = /^[1-9]\d{5}(19\d\d|20\d\d)(0[1-9]|1[0-2])([0-2]\d|3[01])\d{3}[\dX]$/;
const CENTURIES = new Set(['19', '20']);
const ID_WEIGHTS = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
const ID_CHECKS = '10X98765432';

function isDate(year: number, month: number, day: number): boolean {
  return day > 0 && new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
}

/** A unified social credit code (GB 32100-2015): authority, category, region, organisation, check character. */
export const isOrganisationCode = (text: string): boolean => ORGANISATION_CODE.test(text) && isSocialCreditCode(text);

const ORGANISATION_CODE =
  /^[1-9ANY][1-9A-HJ-NPQRTUWXY](?:1[0-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|71|8[1-3])\d{4}[0-9A-HJ-NPQRTUWXY]{10}$/;

/**
 * The length of an IBAN that begins like this text; undefined if there is none. The table has entries of countries
 * without IBANs too.
 */
export function ibanLength(text: string): number | undefined {
  return /^[A-Z]{2}\d{2}/.test(text) ? (countrySpecs[text.slice(0, 2)]?.chars ?? undefined) : undefined;
}

/**
 * An IBAN (ISO 13616): its country's length and format, and the check digits modulo 97. Check digits of the national
 * number within it are not required: a number is to be masked also if they are wrong.
 */
export function isIban(text: string): boolean {
  const { errorCodes } = validateIBAN(text);
  return errorCodes.every((code) => code === ValidationErrorsIBAN.WrongAccountBankBranchChecksum);
}

/**
 * Whether digits begin with an issuer number (ISO/IEC 7812) that is in use for bank cards. Numbers with 9 are cards of
 * Chinese banks from before they had numbers that begin with 62.
 */
export const isIssued = (digits: string): boolean => ISSUER.test(digits);

const ISSUER = /^(?:22\d\d|2[3-6]\d\d|27[01]\d|2720|3[04-9]|4|5|6|8[12]|9(?:4|55|88|98))/;

/** Whether the digits from `start` up to `end` have a valid check digit by Luhn. */
export type LuhnCheck = (start: number, end: number) => boolean;

/** Sums are computed once for all parts of the text, because many parts overlap. */
export function luhnCheckOf(chars: string): LuhnCheck {
  // Two sums up to each position, in which the digits at even and at odd positions are doubled.
  const even = new Uint32Array(chars.length + 1);
  const odd = new Uint32Array(chars.length + 1);
  for (let index = 0; index < chars.length; index++) {
    const value = chars.charCodeAt(index) - 0x30;
    const plain = value > 9 ? 0 : value;
    const doubled = plain > 4 ? plain * 2 - 9 : plain * 2;
    even[index + 1] = (even[index] ?? 0) + (index % 2 === 0 ? doubled : plain);
    odd[index + 1] = (odd[index] ?? 0) + (index % 2 === 0 ? plain : doubled);
  }
  return (start, end) => {
    const sums = end % 2 === 0 ? even : odd;
    return ((sums[end] ?? 0) - (sums[start] ?? 0)) % 10 === 0;
  };
}

/**
 * The second line of the machine-readable zone of a passport (ICAO 9303), by its check digits for the number, the date
 * of birth, the date of expiry and the line.
 */
export function isPassportLine(line: string): boolean {
  if (!PASSPORT_LINE.test(line)) return false;
  const composite = line.slice(0, 10) + line.slice(13, 20) + line.slice(21, 43);
  return (
    [
      [line.slice(0, 9), line[9]],
      [line.slice(13, 19), line[19]],
      [line.slice(21, 27), line[27]],
      [composite, line[43]],
    ] as const
  ).every(([text, check]) => zoneDigit(text) === check);
}

const PASSPORT_LINE = /^[A-Z0-9<]{9}\d[A-Z<]{3}\d{7}[MFX<]\d{7}[A-Z0-9<]{14}[0-9<]\d$/;

function zoneDigit(text: string): string {
  const sum = [...text].reduce((total, character, index) => {
    const value = character === '<' ? 0 : Number.parseInt(character, 36);
    return total + value * (ZONE_WEIGHTS[index % 3] ?? 0);
  }, 0);
  return String(sum % 10);
}

const ZONE_WEIGHTS = [7, 3, 1];

/**
 * A passport number by its form alone, because such numbers have no check digit: ordinary, diplomatic and service
 * passports of China.
 */
export const isPassportNumber = (text: string): boolean => PASSPORT.test(text);

const PASSPORT = /^(?:[EG]\d{8}|E[A-HJ-NP-Z]\d{7}|[DSP]E\d{7})$/;

/** A passport number of any country; only where the text says that one follows. */
export const isAnyPassportNumber = (text: string): boolean => ANY_PASSPORT.test(text);

const ANY_PASSPORT = /^(?=.{6,10}$)[A-Z]{0,3}\d{5,9}[A-Z]?$/;
