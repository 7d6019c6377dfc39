import { createRequire } from 'node:module';
import type * as PhoneNumbers from 'libphonenumber-js/core';
import { onFirstUse } from '../../../data-plane-agent/base/on-first-use.js';

/** The possible lengths of national numbers by country calling code. Their source is loaded with the first number. */
const lengths = onFirstUse((): ReadonlyMap<string, ReadonlySet<number>> => {
  const require = createRequire(import.meta.url);
  const { getCountries, getCountryCallingCode, Metadata } = require('libphonenumber-js/core') as typeof PhoneNumbers;
  const metadata = require('libphonenumber-js/metadata.min') as ConstructorParameters<typeof Metadata>[0];
  const byCode = new Map<string, Set<number>>();
  for (const country of getCountries(metadata)) {
    const plan = new Metadata(metadata);
    plan.selectNumberingPlan(country);
    const code = getCountryCallingCode(country, metadata);
    const known = byCode.get(code) ?? new Set();
    for (const length of plan.numberingPlan?.possibleLengths() ?? []) known.add(length);
    byCode.set(code, known);
  }
  return byCode;
});

/** The fewest and the most digits of a number with its calling code; shorter ones are services within a country. */
export const INTERNATIONAL_DIGITS = { min: 8, max: 15 } as const;

/** Whether the digits after `+` are a number by E.164: a calling code in use, and a length that its country has. */
export function isInternationalNumber(digits: string): boolean {
  if (digits.length < INTERNATIONAL_DIGITS.min || digits.length > INTERNATIONAL_DIGITS.max) return false;
  return [1, 2, 3].some(
    (length) =>
      lengths()
        .get(digits.slice(0, length))
        ?.has(digits.length - length) === true,
  );
}

/** Whether the digits are a mobile number of China, with or without `86`, or a landline with its area code. */
export const isChineseNumber = (digits: string): boolean => MOBILE.test(digits) || LANDLINE.test(digits);

const MOBILE = /^((?:(?:00)?86)?)1[3-9]\d{9}$/;
const LANDLINE = /^0(?:10|2\d|[3-9]\d\d)[2-8]\d{6,7}$/;

/**
 * Whether a number of China is written in groups of digits in which such numbers are written. Amounts such as `13 800
 * 138 000` have groups too.
 */
export function isWrittenAsNumber(digits: string, groups: readonly number[]): boolean {
  const prefix = MOBILE.exec(digits)?.[1];
  if (prefix === undefined) return LANDLINE_FORMS.has(groups.join('-'));
  const form = withoutFirst(groups, prefix.length);
  return MOBILE_FORMS.has(form.join('-')) || isSpaced(form);
}

const MOBILE_FORMS = new Set(['11', '3-4-4', '3-8', '7-4', '4-4-3', '3-3-5', '5-6', '6-5']);
const LANDLINE_FORMS = new Set(['3-8', '3-7', '4-7', '4-8', '3-4-4', '4-4-4', '4-3-4', '3-3-4']);

function withoutFirst(groups: readonly number[], digits: number): number[] {
  const form: number[] = [];
  let left = digits;
  for (const group of groups) {
    const taken = Math.min(group, left);
    left -= taken;
    if (group > taken) form.push(group - taken);
  }
  return form;
}

/** `1 3 8 0 0 …`, and `13 80 01 …`. */
export const isSpaced = (groups: readonly number[]): boolean =>
  groups.length > 4 &&
  groups.every((group, index) => group <= 2 && (group === groups[0] || index === groups.length - 1));
