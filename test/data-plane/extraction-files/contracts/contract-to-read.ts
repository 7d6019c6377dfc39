import type { Page } from '../../../support/documents/blocks.js';

/** A contract, and the fields that a careful person enters from it: exactly those in the text, except clauses. */
export interface ContractToRead {
  readonly page: Page;
  readonly expected: Readonly<Record<string, string | number>>;
}
