import type { Kept } from './contract.js';
import type { List, Reader } from './lists.js';
import type { Change, Receivable } from './receipt.js';

/** Items of a page, or all of a contract, as pieces of JSON. */
export interface Detail {
  readonly contract: string;
  readonly names: string;
  readonly lines: string;
  /** The JSON of the terms, notes, tasks and invoices, joined by commas. */
  readonly parts: Readonly<Record<string, string>>;
}

type Soon<T> = T | Promise<T>;

/** The statements of the raw program on one database. On SQLite they are synchronous. */
export interface Store {
  page(list: List): Soon<readonly string[]>;
  detail(id: string, reader: Reader): Soon<Detail | undefined>;
  overdue(today: string, offset: number): Soon<readonly string[]>;
  /** In one durable transaction, like `receive`. */
  create(contract: Kept): Soon<void>;
  receive(lineId: string, change: (before: Receivable) => Change): Soon<string | undefined>;
}
