import type { Day } from '../../data-plane-agent/base/day.js';
import type { Random } from './random.js';
import type { Life } from './shapes.js';
import type { Texts } from './texts.js';

/** A payment of a plan, before any receipts or invoices. */
export interface DuePart {
  readonly period: string;
  readonly dueDate: Day;
  /** In whole major units. */
  readonly amount: number;
}

/** What the lines of one contract have in common. */
export interface Customs {
  readonly random: Random;
  readonly today: Day;
  readonly life: Life;
  readonly payer: string;
  readonly account: string;
  readonly texts: Texts;
  /** Makes bank serial numbers and invoice numbers unique. */
  readonly serial: number;
}

/** How a line was paid. */
export type Outcome = 'paid' | 'in parts' | 'corrected' | 'overpaid' | 'partial' | 'unpaid';

export const earlier = (a: Day, b: Day): Day => (a < b ? a : b);
