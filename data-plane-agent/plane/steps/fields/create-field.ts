import { fail, invalid } from '../../../base/failures.js';
import type { Issue } from '../../../base/issue.js';
import type { FieldValue, PayloadOf } from '../../contract/records/fields.js';
import type { FieldRow } from '../../tables/fields.js';
import { isChoice } from '../../domain/fields/definition.js';
import { codeFor, nameKeyOf, nextSettings } from '../../domain/fields/new-field.js';
import { nextOptions } from '../../domain/fields/options.js';
import { placed } from '../../domain/fields/placing.js';
import { checkedValue, optionNamed } from '../../domain/fields/values.js';
import {
  moveOthers,
  refuseTakenName,
  refuseTooMany,
  type CommandOutcome,
  type FieldCommandContext,
} from './command.js';

export async function createField({
  context,
  call,
  payload,
  known,
  fields,
}: FieldCommandContext<'CreateField'>): Promise<CommandOutcome> {
  const { store, clock, newId } = context;
  const row = draft(payload, {
    id: newId(),
    now: clock.now(),
    currencyCode: call.currencyCode,
    codes: new Set(fields.map(({ code }) => code)),
    newId,
  });
  await checkReferences({ context, known }, row);
  refuseTooMany(fields, { isNew: true });
  refuseTakenName(fields, row.name);
  if (fields.some(({ code }) => code === row.code)) throw fail('DUPLICATE_CODE', { field: 'code', value: row.code });
  const at = placed(fields, row, { section: row.section, ...(payload.order ? { at: payload.order } : {}) });
  await store.fields.insert(at.row);
  await moveOthers(context, at.others);
  return { field: at.row };
}

interface Surroundings {
  readonly id: string;
  readonly now: number;
  readonly currencyCode: string;
  readonly codes: ReadonlySet<string>;
  readonly newId: () => string;
}

/** The requested field, without its position. Throws 400 with all contradictions. */
function draft(payload: PayloadOf<'CreateField'>, { id, now, currencyCode, codes, newId }: Surroundings): FieldRow {
  const { name, type } = payload;
  const { settings, issues } = nextSettings({}, payload.settings, { type, currencyCode });
  const found: Issue[] = [...issues];
  if (payload.options && payload.options.length > 0 && !isChoice(type))
    found.push({ path: 'payload.options', problem: `must be left out for a field of the type ${type}` });
  const visibleRoles = distinct(payload.visibleRoles);
  const editableRoles = distinct(payload.editableRoles);
  if (visibleRoles.length > 0 && editableRoles.some((role) => !visibleRoles.includes(role)))
    found.push({ path: 'payload.editableRoles', problem: 'must be among visibleRoles' });
  const { options } = isChoice(type) ? nextOptions([], { given: payload.options ?? [], newId }) : { options: [] };
  const read = checkedValue({ type, options, settings }, defaultNamed(payload.defaultValue, options));
  if (!read.ok) found.push({ path: 'payload.defaultValue', problem: read.problem });
  if (found.length > 0) throw invalid(...found);
  return {
    id,
    code: payload.code ?? codeFor(name, codes),
    name,
    nameKey: nameKeyOf(name),
    description: payload.description ?? null,
    type,
    required: payload.required ?? false,
    options,
    defaultValue: read.ok ? read.value : null,
    settings,
    typeCodes: distinct(payload.typeCodes),
    visibleRoles,
    editableRoles,
    position: 1,
    section: payload.section ?? null,
    archived: false,
    createdAt: now,
    updatedAt: now,
    version: 1,
  };
}

const distinct = (list: readonly string[] | null | undefined): readonly string[] => [...new Set(list ?? [])];

/** The options of a new field have no ids yet, so that requests refer to them by label. */
function defaultNamed(
  value: PayloadOf<'CreateField'>['defaultValue'],
  options: FieldRow['options'],
): FieldValue | null {
  const idOf = (text: string) => optionNamed(options, text)?.id ?? text;
  if (options.length === 0 || value === null || value === undefined) return value ?? null;
  return typeof value === 'string' ? idOf(value) : Array.isArray(value) ? value.map(idOf) : value;
}

/** Roles and members come from the control plane, contract types and files from the store. */
async function checkReferences(
  { context: { store }, known }: Pick<FieldCommandContext<'CreateField'>, 'context' | 'known'>,
  row: FieldRow,
): Promise<void> {
  for (const key of ['visibleRoles', 'editableRoles'] as const) {
    const unknown = known.roleCodes && row[key].find((role) => !known.roleCodes?.includes(role));
    if (unknown !== undefined) throw fail('REFERENCE_INVALID', { field: `payload.${key}`, value: unknown });
  }
  if (row.typeCodes.length > 0) await store.lifecycle.ensureShipped();
  for (const code of row.typeCodes)
    if (!(await store.lifecycle.type(code)))
      throw fail('REFERENCE_INVALID', { field: 'payload.typeCodes', value: code });
  const value = row.defaultValue;
  if (row.type === 'file' && typeof value === 'string') await store.files.check('payload.defaultValue', value);
  if (
    row.type === 'user' &&
    typeof value === 'string' &&
    !known.members?.some(({ id, active }) => active && id === value)
  )
    throw fail('REFERENCE_INVALID', { field: 'payload.defaultValue', value });
}
