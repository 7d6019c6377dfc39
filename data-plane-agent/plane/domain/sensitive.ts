import type { Rights } from '../contract/call.js';
import { contracts } from '../tables/contracts.js';
import { lines } from '../tables/payment-lines.js';

/** What a caller without `sensitive_data` sees of an account number, and what the audit trail keeps of it. */
export const masked = (account: string): string => `****${account.slice(-4)}`;

/** The fields of contracts and lines that hold account numbers, as their columns say. */
const ACCOUNTS: ReadonlySet<string> = new Set(
  [...contracts.columns, ...lines.columns]
    .filter(([, { meaning }]) => meaning === 'account')
    .map(([field, { apiName }]) => apiName ?? field),
);

/**
 * Whether a field is an account number, by its name or its path: `payeeAccount`, `line.receiptAccount`,
 * `payments[2].receiptAccount`.
 */
export const isAccountField = (path: string): boolean => ACCOUNTS.has(path.slice(path.lastIndexOf('.') + 1));

/** An account number as the caller may see it. */
export const shown = (account: string | null, { sensitive }: Pick<Rights, 'sensitive'>): string | null =>
  account === null || sensitive ? account : masked(account);

/**
 * What was sent for an account number: the masked form of the present one, sent back with a record, changes nothing.
 * Any other masked number is refused, since nobody can be paid to it.
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

/** No account number begins with four asterisks and has so few characters. */
const isMasked = (text: string): boolean => text.startsWith('****') && text.length <= 8;
