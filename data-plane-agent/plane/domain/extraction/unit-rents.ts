import type { Span } from './document.js';
import type { LabelHit } from './label-hits.js';
import type { Labelled } from './values.js';

const ONE_UNIT = '每[台套辆架部]|单[台套辆]|(?:per|for each|each) (?:unit|set|piece|machine|crane|vehicle|truck|item)';
const UNIT_BEFORE = new RegExp(`(?:${ONE_UNIT})[^。;\\n]{0,3}$`);
const UNIT_AROUND = new RegExp(`${ONE_UNIT}|/ ?(?:[台套辆架部]|unit|set|machine)`);
const UNIT_AFTER = new RegExp(
  `^ ?(?:(?:/ ?|每|per |a )(?:[月季年天日]|calendar |month|quarter|year|week|day)+,? ?)?(?:${ONE_UNIT}|/ ?(?:[台套辆架部]|unit|set|machine)|each(?![a-z]))`,
);

/** Whether the text gives the amount for one unit: `每台月租金`, `月租金：每台8000元`, `USD 8,000 per unit`, `8000元/台/月`. */
export const isOfOneUnit = ({ plain }: Labelled, { start, end, aside }: LabelHit, amount: Span): boolean =>
  UNIT_BEFORE.test(plain.slice(Math.max(0, start - 14), start)) ||
  UNIT_AROUND.test(`${plain.slice(start, end)} ${aside}`) ||
  UNIT_AROUND.test(plain.slice(end, amount.end)) ||
  UNIT_AFTER.test(plain.slice(amount.end, amount.end + 40));
