import type { Page } from '../../../support/documents/blocks.js';

/** A contract, and what a careful reader enters of it: clauses aside, every field that it says, and no other. */
export interface ContractToRead {
  readonly page: Page;
  readonly expected: Readonly<Record<string, string | number>>;
}
