import { oneOf, raw } from './words/one-of.js';

/** Means of payment within other text. */
export const MEANS_ENGLISH = oneOf(
  'bank transfer',
  'wire transfer',
  raw`telegraphic transfer(?: \(t\/t\))?`,
  raw`t\/t`,
  'electronic (?:funds )?transfer',
  '(?:irrevocable )?(?:documentary )?letter of credit(?: at sight)?',
  raw`l\/c(?: at sight)?`,
  'standing order',
  'direct debit',
  'ach (?:debit|credit|transfer|payment)',
  'sepa (?:transfer|direct debit)',
  'bacs(?: transfer| payment)?',
  'chaps',
  'giro',
  'cheque',
  'check',
  'bank draft',
  'credit card',
);
export const MEANS_CHINESE = '(?:银行)?(?:电汇|转账|汇款|承兑汇票)|现金|支票|信用证|电汇或转账';

const MEANS = new RegExp(`(?<![a-z])(?:${MEANS_ENGLISH}|tt)(?![a-z])|${MEANS_CHINESE}`);

/** The first means of payment in a text, and its position. */
export function meansIn(text: string): { readonly at: number; readonly length: number } | undefined {
  const match = MEANS.exec(text);
  return match ? { at: match.index, length: match[0].length } : undefined;
}
