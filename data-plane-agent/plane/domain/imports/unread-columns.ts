import { warn, type GivenWarning } from '../../../base/warnings.js';
import { yielding } from '../../../base/yielding.js';
import type { Sheet } from '../../contract/records/sheet.js';
import type { ContractRow } from '../../tables/contracts.js';
import { unguarded } from '../sheet/guard.js';
import type { MatchedHeader } from '../sheet/headers.js';
import { isBlank } from '../sheet/sheet.js';
import type { Suggestion } from '../sheet/suggestions.js';
import { knownCode } from '../sheet/value-words.js';
import type { Candidate } from './candidate.js';

/**
 * The contract fields with a small vocabulary and a default, so that a column with an unknown header would be replaced
 * by the default without an error. `codes` are the columns that decide the same.
 */
const FIELDS = {
  type: { codes: ['type', 'typeCode'], of: ({ type }: ContractRow) => type },
  currencyCode: { codes: ['currencyCode'], of: ({ currencyCode }: ContractRow) => currencyCode },
  status: { codes: ['status', 'statusCode'], of: ({ status }: ContractRow) => status },
  workflowStage: {
    codes: ['workflowStage', 'lifecycleStageCode'],
    of: ({ stageCategory }: ContractRow) => stageCategory,
  },
} as const;
type Field = keyof typeof FIELDS;

interface UnreadColumn {
  readonly at: number;
  readonly header: string;
  readonly fields: readonly Field[];
}

export interface UnreadColumns {
  /** Fields of which all cells of an unknown column are values. */
  readonly suggestions: readonly Suggestion[];
  /** Warns where an unread cell differs from what was entered. */
  warningsOf(candidate: Candidate, entered: ContractRow): GivenWarning[];
}

export const NO_UNREAD_COLUMNS: UnreadColumns = { suggestions: [], warningsOf: () => [] };

/** Finds unknown columns that contain the type, currency, status or stage of the contracts, by their cells. */
export async function unreadColumns(
  { header, records }: Pick<Sheet, 'header' | 'records'>,
  { targets, suggestions }: Pick<MatchedHeader, 'targets' | 'suggestions'>,
  signal?: AbortSignal,
): Promise<UnreadColumns> {
  const given = new Set(targets.map((target) => target?.name));
  const open = (Object.keys(FIELDS) as Field[]).filter((field) => !FIELDS[field].codes.some((name) => given.has(name)));
  if (open.length === 0) return NO_UNREAD_COLUMNS;
  const pause = yielding(signal);
  const byValues: UnreadColumn[] = [];
  for (const [at, text] of header.entries()) {
    if (text === null || targets[at]) continue;
    let fields: readonly Field[] = open;
    let isEmpty = true;
    for (const { cells } of records) {
      await pause();
      const cell = cells[at];
      if (isBlank(cell)) continue;
      isEmpty = false;
      fields = fields.filter((field) => typeof cell === 'string' && knownCode(field, unguarded(cell)) !== undefined);
      if (fields.length === 0) break;
    }
    if (!isEmpty && fields.length > 0) byValues.push({ at, header: headerText(text), fields });
  }
  const unread = withNearMisses(byValues, { header, open, suggestions });
  const rows = new Map(records.map(({ row, cells }) => [row, cells]));
  return {
    suggestions: byValues.flatMap(({ header: column, fields }) =>
      fields
        .filter((field) => !suggestions.some((one) => one.column === column && one.suggestion === field))
        .map((suggestion) => ({ column, suggestion })),
    ),
    warningsOf: (candidate, entered) =>
      unread.flatMap((column) => differing(column, { cellsOf: (row) => rows.get(row) ?? [], candidate, entered })),
  };
}

/** As `unknownColumns` of the report names it. */
const headerText = (text: string): string => text.trim().slice(0, 200);

/** Also columns with some other values, if their header nearly is that of the field. */
function withNearMisses(
  byValues: readonly UnreadColumn[],
  {
    header,
    open,
    suggestions,
  }: {
    readonly header: Sheet['header'];
    readonly open: readonly Field[];
    readonly suggestions: readonly Suggestion[];
  },
): readonly UnreadColumn[] {
  const known = new Set(byValues.map(({ at }) => at));
  const byHeader = header.flatMap((text, at): UnreadColumn[] => {
    if (text === null || known.has(at)) return [];
    const column = headerText(text);
    const fields = open.filter((field) => suggestions.some((one) => one.column === column && one.suggestion === field));
    return fields.length === 0 ? [] : [{ at, header: column, fields }];
  });
  // A word that several fields have does not say which of them is meant.
  return [...byValues, ...byHeader].filter(({ fields }) => fields.length === 1);
}

function differing(
  { at, header, fields: [field] }: UnreadColumn,
  {
    cellsOf,
    candidate,
    entered,
  }: {
    readonly cellsOf: (row: number) => Sheet['records'][number]['cells'];
    readonly candidate: Candidate;
    readonly entered: ContractRow;
  },
): GivenWarning[] {
  if (!field) return [];
  const has = FIELDS[field].of(entered);
  for (const row of candidate.rows) {
    const cell = cellsOf(row)[at];
    const text = typeof cell === 'string' ? unguarded(cell).trim() : '';
    const code = knownCode(field, text);
    if (code === undefined || code === has) continue;
    return [
      warn('COLUMN_NOT_READ', {
        message: `The column "${header}" is not read. It says "${text}", which is ${code}, but ${field} of the contract is ${has}. To have it read, name the column ${field}.`,
      }),
    ];
  }
  return [];
}
