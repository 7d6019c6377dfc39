import { invalid } from '../../../base/failures.js';
import type { Issue } from '../../../base/issue.js';
import type { Conditions } from '../../contract/records/conditions.js';
import { isRequirable } from './conditions.js';

/**
 * Refuses conditions that no contract can meet, or that name an unknown field. `path` is the request field that holds
 * them.
 */
export function checkConditions(path: string, conditions: Conditions | null | undefined): void {
  const issues = conditionIssues(path, conditions);
  if (issues.length > 0) throw invalid(...issues);
}

interface SoundConditions {
  readonly requireFields?: readonly (string | undefined)[] | null | undefined;
  readonly minAmount?: number | null | undefined;
  readonly maxAmount?: number | null | undefined;
}

/** The issues of conditions; invalid parts that were refused before may be missing. */
export function conditionIssues(path: string, conditions: SoundConditions | null | undefined): Issue[] {
  const { requireFields, minAmount, maxAmount } = conditions ?? {};
  const unknown = (requireFields ?? []).flatMap((field, i): Issue[] =>
    field === undefined || isRequirable(field)
      ? []
      : [
          {
            path: `${path}.requireFields[${i}]`,
            problem: 'must be a field of a contract that can be sent with it, or dynamicFields.<id>',
          },
        ],
  );
  const fine = (['minAmount', 'maxAmount'] as const).flatMap((field): Issue[] =>
    isTooFine(conditions?.[field])
      ? [{ path: `${path}.${field}`, problem: `must have at most ${DECIMALS} decimals` }]
      : [],
  );
  const crossed: Issue[] =
    typeof minAmount === 'number' && typeof maxAmount === 'number' && maxAmount < minAmount
      ? [{ path: `${path}.maxAmount`, problem: 'must not be less than minAmount' }]
      : [];
  return [...unknown, ...(fine.length > 0 ? fine : crossed)];
}

/** The currency of the contracts is not known here; no ISO 4217 currency has more decimals. */
const DECIMALS = 4;
const isTooFine = (amount: number | null | undefined): boolean =>
  typeof amount === 'number' && Number(amount.toFixed(DECIMALS)) !== amount;

/** The custom fields required by conditions, with their path in the request. */
export const customFieldsOf = (
  path: string,
  { requireFields }: Conditions,
): { readonly field: string; readonly value: string; readonly id: string }[] =>
  (requireFields ?? []).flatMap((value, i) =>
    value.startsWith(PREFIX) ? [{ field: `${path}.requireFields[${i}]`, value, id: value.slice(PREFIX.length) }] : [],
  );

const PREFIX = 'dynamicFields.';
