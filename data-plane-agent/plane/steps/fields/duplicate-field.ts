import { fits } from '../../domain/fields/changed-values.js';
import type { FieldRow } from '../../tables/fields.js';
import { visibleTo } from '../../domain/fields/definition.js';
import { codeFor, nameForCopy, nameKeyOf } from '../../domain/fields/new-field.js';
import { placed } from '../../domain/fields/placing.js';
import type { OperationContext } from '../operation-context.js';
import {
  fieldNamed,
  moveOthers,
  refuseTakenName,
  refuseTooMany,
  type CommandOutcome,
  type FieldCommandContext,
} from './command.js';

/**
 * Copies a definition, optionally with the values of all contracts, and places the copy after it. The copy of an
 * archived field is live.
 */
export async function duplicateField({
  context,
  call,
  payload,
  fields,
}: FieldCommandContext<'DuplicateField'>): Promise<CommandOutcome> {
  const { store, clock, newId } = context;
  const source = fieldNamed(fields, 'payload.fieldId', payload.fieldId);
  refuseTooMany(fields, { isNew: true });
  const name =
    payload.name ??
    nameForCopy(source.name, new Set(fields.filter(({ archived }) => !archived).map(({ nameKey }) => nameKey)));
  refuseTakenName(fields, name);
  const now = clock.now();
  const copy: FieldRow = {
    ...source,
    id: newId(),
    code: codeFor(source.code, new Set(fields.map(({ code }) => code))),
    name,
    nameKey: nameKeyOf(name),
    archived: false,
    createdAt: now,
    updatedAt: now,
    version: 1,
  };
  const at = placed(fields, copy, { section: source.section, ...(source.archived ? {} : { at: source.position + 1 }) });
  await store.fields.insert(at.row);
  await moveOthers(context, at.others);
  if (!payload.includeValues) return { field: at.row };
  const result = await copyValues(context, { from: source.id, to: copy.id });
  return visibleTo(source, call.actor.roleCode) ? { field: at.row, result } : { field: at.row };
}

/** Contracts whose custom values would become too large are skipped and counted as unchanged. */
async function copyValues(
  { store }: OperationContext,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<NonNullable<CommandOutcome['result']>> {
  const counts = { total: 0, converted: 0, unchanged: 0 };
  for await (const step of store.fieldValues.walk(from)) {
    const rows = step
      .filter(({ values }) => values[from] !== undefined)
      .map(({ contractId, values }) => ({ contractId, values: { ...values, [to]: values[from] } }));
    const fitting = rows.filter(({ values }) => fits(values));
    counts.total += rows.length;
    counts.converted += fitting.length;
    counts.unchanged += rows.length - fitting.length;
    await store.fieldValues.write(fitting);
  }
  return { dryRun: false, ...counts, cleared: 0, samples: [] };
}
