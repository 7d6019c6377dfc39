import { s } from '../../../base/schema.js';
import type { Call } from '../../contract/call.js';
import {
  EXPORT_CHUNK,
  EXPORT_PROFILES,
  ExportChunk,
  ExportFilter,
  ExportPlace,
  type ExportProfile,
} from '../../contract/records/export.js';
import { dueState } from '../../domain/payments/receivable.js';
import type { ContractRow } from '../../tables/contracts.js';
import {
  CONTRACT_COLUMNS,
  LINE_COLUMNS,
  SUMMARY_COLUMNS,
  type ContractSource,
  type Writing,
} from '../../domain/sheet/columns.js';
import { customCells } from '../../domain/sheet/custom-columns.js';
import { cellText } from '../../domain/sheet/csv-write.js';
import type { Store } from '../../store/store.js';
import { filterOf, orderOf } from '../../steps/contracts/list-filter.js';
import { operation } from '../../steps/operation-context.js';

/** Lines, terms and notes in one chunk. A single contract is never split, however many it has. */
const ITEMS = 500;

/** The next rows of an export: of the planned `ids`, or of the contracts `after` the given one. */
export const exportContracts = operation({
  effect: 'read',
  queued: true,
  input: s.object({
    profile: s.enum(EXPORT_PROFILES),
    filter: ExportFilter,
    fieldIds: s.list(s.id(), 1_000, 'The ids of the custom fields in the plan, in order.'),
    ids: s.nullable(s.list(s.id(), EXPORT_CHUNK)),
    after: s.nullable(ExportPlace),
  }),
  output: ExportChunk,
  fails: [],
  async run({ store }, call, { profile, filter, fieldIds, ids, after }) {
    const found = ids ? await store.contractExport.byIds(ids) : await following(store, call, { filter, after });
    const rows = profile === 'full' ? await upTo(store, found) : found;
    const isCut = rows.length < found.length;
    const last = rows.at(-1);
    return {
      contracts:
        profile === 'full' ? await fullRows(store, call, { rows, fieldIds }) : await summaryRows(store, call, rows),
      taken: ids ? (isCut && last ? ids.indexOf(last.id) + 1 : ids.length) : 0,
      next:
        !ids && last && (isCut || found.length === EXPORT_CHUNK) ? { createdAt: last.createdAt, id: last.id } : null,
    };
  },
});

/**
 * Too many contracts for a sorted id list: they are read in order of creation, since any other order may change
 * meanwhile.
 */
function following(
  store: Store,
  call: Call,
  { filter, after }: { filter: ExportFilter; after: ExportPlace | null },
): Promise<ContractRow[]> {
  const asked = orderOf(filter);
  return store.contractExport.following(filterOf(filter, call), {
    direction: asked.sort === 'createdAt' ? asked.order : 'desc',
    after,
    limit: EXPORT_CHUNK,
  });
}

async function upTo(store: Store, found: readonly ContractRow[]): Promise<readonly ContractRow[]> {
  const sizes = await store.contractExport.sizes(found.map(({ id }) => id));
  let items = 0;
  const cut = found.findIndex(({ id }, i) => (items += sizes.get(id) ?? 0) > ITEMS && i > 0);
  return cut === -1 ? found : found.slice(0, cut);
}

async function summaryRows(store: Store, call: Call, rows: readonly ContractRow[]): Promise<ExportChunk['contracts']> {
  const due = await store.contractList.dueLines(rows, call.today);
  const writing = await writingOf(store, call, []);
  return rows.map((row) => {
    const { overdueMinor } = dueState(due.get(row.id) ?? [], {
      currencyCode: row.currencyCode,
      today: call.today,
      leadDays: call.reminderLeadDays,
    });
    return { cells: cellsOf('summary', { row, overdueMinor, terms: [], notes: [] }, writing), lines: [] };
  });
}

async function fullRows(
  store: Store,
  call: Call,
  { rows, fieldIds }: { readonly rows: readonly ContractRow[]; readonly fieldIds: readonly string[] },
): Promise<ExportChunk['contracts']> {
  const ids = rows.map(({ id }) => id);
  const lines = await store.contractExport.lines(ids);
  const terms = await store.contractExport.terms(ids);
  const notes = await store.contractExport.notes(ids);
  const visible = new Map(
    fieldIds.length === 0 ? [] : (await store.fields.visible()).map((field) => [field.id, field]),
  );
  const writing = await writingOf(store, call, rows);
  return rows.map((row) => ({
    cells: [
      ...cellsOf(
        'full',
        { row, overdueMinor: 0, terms: terms.get(row.id) ?? [], notes: notes.get(row.id) ?? [] },
        writing,
      ),
      ...customCells(row, fieldIds, visible),
    ],
    lines: (lines.get(row.id) ?? []).map((line) =>
      LINE_COLUMNS.map(({ kind, write }) => cellText(write(line, writing), kind)),
    ),
  }));
}

const cellsOf = (profile: ExportProfile, source: ContractSource, writing: Writing): string[] =>
  (profile === 'full' ? CONTRACT_COLUMNS : SUMMARY_COLUMNS).map(({ kind, write }) =>
    cellText(write(source, writing), kind),
  );

async function writingOf(store: Store, { rights }: Call, rows: readonly ContractRow[]): Promise<Writing> {
  const templates = [...new Set(rows.map(({ lifecycleTemplateId }) => lifecycleTemplateId))];
  const codes =
    templates.length === 0 ? new Map<string, string>() : await store.contractExport.templateCodes(templates);
  return { rights, templateCode: (id) => codes.get(id) ?? null };
}
