import type { Rights } from '../contract/call.js';

/** What a caller without `sensitive_data` sees of an account number, and what the audit trail keeps of it. */
export const masked = (account: string): string => `****${account.slice(-4)}`;

/** An account number as the caller may see it. */
export const shown = (account: string | null, { sensitive }: Pick<Rights, 'sensitive'>): string | null => (account === null || sensitive ? account : masked(account));

/** What was sent for an account number: the masked form of the present one, sent back with a record, changes nothing. */
export const unmasked = <T extends string | null | undefined>(sent: T, present: string | null): T | string =>
  typeof sent === 'string' && present !== null && sent === masked(present) ? present : sent;
