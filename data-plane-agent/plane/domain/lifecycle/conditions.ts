import { isId } from '../../../base/ids.js';
import { toMajor } from '../../../base/money.js';
import type { Conditions } from '../../contract/records/conditions.js';
import { ContractInput } from '../../contract/records/contracts.js';
import type { FileKind } from '../../contract/vocabulary.js';
import type { ContractRow } from '../../tables/contracts.js';

/** The data that conditions are checked against. Lists are counted only when a condition needs them. */
export interface Circumstances {
  readonly row: ContractRow;
  readonly note: string | null;
  /** The user who moves the contract. */
  readonly actorId: string | null;
  /** The user who made the last move, if any. */
  readonly lastMoverId: string | null;
  readonly fileKinds: ReadonlySet<FileKind>;
  readonly counts: Readonly<Record<ListField, number>>;
}

const LISTS = ['payments', 'terms', 'extraNotes'] as const;
export type ListField = (typeof LISTS)[number];
export const isListField = (field: string): field is ListField => (LISTS as readonly string[]).includes(field);

/** A condition that is not met. `of`: whether it belongs to the transition or to the stage that the contract leaves. */
export interface FailedCondition {
  readonly condition: keyof Conditions | 'setFieldToday';
  readonly of: 'transition' | 'stage';
  readonly message: string;
  readonly missing?: string[];
}

/** All conditions that are not met, in the order of the vocabulary. */
export function failedConditions(
  of: FailedCondition['of'],
  conditions: Conditions,
  circumstances: Circumstances,
): FailedCondition[] {
  const { row, note, actorId, lastMoverId, fileKinds } = circumstances;
  const total = toMajor(row.totalMinor, row.currencyCode);
  const fields = (conditions.requireFields ?? []).filter((field) => !hasValue(field, circumstances));
  const kinds = (conditions.requireFileKinds ?? []).filter((kind) => !fileKinds.has(kind));
  const self =
    actorId !== null && (actorId === row.createdBy ? 'entered' : actorId === lastMoverId ? 'last moved' : false);
  const minAmount = conditions.minAmount ?? 0;
  const maxAmount = conditions.maxAmount ?? Infinity;
  const failed: (Omit<FailedCondition, 'of'> | false)[] = [
    fields.length > 0 && {
      condition: 'requireFields',
      message: `These fields need a value: ${fields.join(', ')}.`,
      missing: fields,
    },
    kinds.length > 0 && {
      condition: 'requireFileKinds',
      message: `A file of each of these kinds is needed: ${kinds.join(', ')}.`,
      missing: kinds,
    },
    conditions.requireAllPaid === true &&
      row.paymentStatus !== 'paid' && {
        condition: 'requireAllPaid',
        message: 'All receivables must be paid first.',
      },
    conditions.requireTasksDone === true &&
      row.tasksDone < row.tasksLive && {
        condition: 'requireTasksDone',
        message: `${row.tasksLive - row.tasksDone} of ${row.tasksLive} fulfillment tasks are still to be completed.`,
      },
    conditions.requireNote === true && note === null && { condition: 'requireNote', message: 'The move needs a note.' },
    total < minAmount && { condition: 'minAmount', message: `The total amount must be at least ${minAmount}.` },
    total > maxAmount && { condition: 'maxAmount', message: `The total amount must be at most ${maxAmount}.` },
    conditions.forbidSelfApproval === true &&
      self !== false && {
        condition: 'forbidSelfApproval',
        message: `This must be done by a user other than the one who ${self} the contract.`,
      },
  ];
  return failed.filter((failure) => failure !== false).map((failure) => ({ ...failure, of }));
}

/** Whether `requireFields` may contain a field: any input field of a contract, or a custom field. */
export const isRequirable = (field: string): boolean =>
  CUSTOM.test(field)
    ? isId(field.slice(CUSTOM_PREFIX.length))
    : Object.hasOwn(ContractInput.properties, field) &&
      !field.startsWith('workflow') &&
      !field.startsWith('lifecycle') &&
      field !== 'dynamicFields';

const CUSTOM = /^dynamicFields\./;
const CUSTOM_PREFIX = 'dynamicFields.';

function hasValue(field: string, { row, counts }: Circumstances): boolean {
  if (isListField(field)) return counts[field] > 0;
  if (CUSTOM.test(field)) return isThere(row.dynamicFields[field.slice(CUSTOM_PREFIX.length)]);
  return isThere(row[columnOf(field)]);
}

const isThere = (value: unknown): boolean =>
  value !== null && value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);

/** The column of a request field; amounts have different names. */
const columnOf = (field: string): keyof ContractRow => (AMOUNTS[field] ?? field) as keyof ContractRow; // checked by `isRequirable`

const AMOUNTS: Readonly<Record<string, keyof ContractRow>> = {
  totalAmount: 'totalMinor',
  deposit: 'depositMinor',
  periodicRent: 'periodicRentMinor',
};
