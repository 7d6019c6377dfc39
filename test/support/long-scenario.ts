import type { Step } from './lockstep.js';
import { CHANGES, CONFIGURATION, ENTERING, FIELDS, LISTS } from './long-scenario/contracts.js';
import { ENDINGS, MONEY, PAPER, WORKFLOW } from './long-scenario/money-and-papers.js';

/** A scenario from the configuration to the trash: every endpoint over contract data, with its possible answers. */
export const LONG_SCENARIO: Readonly<Record<string, readonly Step[]>> = {
  'the contract configuration': CONFIGURATION,
  'custom fields': FIELDS,
  'entering contracts': ENTERING,
  'lists and exports': LISTS,
  'changes of a contract': CHANGES,
  'payments, invoices and figures': MONEY,
  'the workflow': WORKFLOW,
  'imports, readings and views': PAPER,
  'conversions and endings': ENDINGS,
};
