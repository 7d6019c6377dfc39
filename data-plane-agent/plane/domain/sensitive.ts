import type { Rights } from '../contract/call.js';
import { contracts } from '../tables/contracts.js';
import { lines } from '../tables/payment-lines.js';

/** The form of an account number for callers without `sensitive_data`, and in the audit trail. */
export const masked = (account: string): string => `****${account.slice(-4)}`;

/** The fields of contracts and lines that hold account numbers, by the meaning of their columns. */
const ACCOUNTS: ReadonlySet<string> = new Set(
  [...contracts.columns, ...lines.columns]
    .filter(([, { meaning }]) => meaning === 'account')
    .map(([field, { apiName }]) => apiName ?? field),
);

/**
 * Whether a field name or path is an account number: `payeeAccount`, `line.receiptAccount`,
 * `payments[2].receiptAccount`.
 */
export const isAccountField = (path: string): boolean => ACCOUNTS.has(path.slice(path.lastIndexOf('.') + 1));

/** An account number as the caller may see it. */
export const shown = (account: string | null, { sensitive }: Pick<Rights, 'sensitive'>): string | null =>
  account === null || sensitive ? account : masked(account);

/**
 * The account number to store. The masked form of the present number, sent back with a record, keeps that number. Any
 * other masked number is refused, since no payment can be made to it.
 */
export function accountSent<T extends string | null | undefined>(
  sent: T,
  present: string | null,
  refuse: (problem: string) => void,
): T | string {
  if (typeof sent !== 'string' || !isMasked(sent)) return sent;
  if (present !== null && sent === masked(present)) return present;
  refuse('is masked: send the whole account number, or leave it out');
  return sent;
}

/** A real account number does not begin with four asterisks. */
const isMasked = (text: string): boolean => text.startsWith('****') && text.length <= 8;
