import { s } from '../../data-plane-agent/base/schema.js';
import { page } from '../../data-plane-agent/plane/contract/records/common.js';
import {
  historyChangeProperties,
  historyEntryProperties,
  HistoryQuery,
  MAX_HISTORY_CHANGES,
  type HistoryChange,
} from '../../data-plane-agent/plane/contract/records/history.js';
import { view } from '../access/permissions.js';
import { endpoint } from '../http/endpoint.js';
import type { TenantDirectory } from '../tenants/directory.js';

/** A change with the names of the members and subject companies whose ids it contains. */
const NamedChange = s.object(
  {
    ...historyChangeProperties,
    beforeName: s.nullable(s.text({ about: 'The name of the member or subject company whose id is in `before`.' })),
    afterName: s.nullable(s.text()),
  },
  { title: 'HistoryChange' },
);
const NamedEntry = s.object(
  { ...historyEntryProperties, changes: s.list(NamedChange, MAX_HISTORY_CHANGES) },
  { title: 'HistoryEntry' },
);

const listContractHistory = endpoint('GET /contracts/:id/history', {
  summary: 'List the changes of a contract',
  description:
    'Newest first. Covers the contract itself, its lines, terms, notes, invoice records and tasks; each field has the name and the unit of the API. Derived values, such as sums, are not listed. ' +
    'Account numbers are masked for all callers, and of the custom fields only those visible to the caller are included. The history of a deleted contract is not available (404) until the contract is restored.',
  needs: view('contract_view'),
  query: HistoryQuery,
  returns: page(NamedEntry, { title: 'HistoryPage' }),
  calls: ['listHistory'],
  fails: [],
  run: async ({ params, query, plane, principal, services }) => {
    const directory = await services.directory.of(principal.tenant.id);
    const found = await plane.listHistory({ contractId: params.id, ...query });
    return {
      ...found,
      items: found.items.map((entry) => ({
        ...entry,
        changes: entry.changes.map((change) => named(change, directory)),
      })),
    };
  },
});

function named(change: HistoryChange, directory: TenantDirectory) {
  const nameOf = (value: unknown): string | null => {
    if (typeof value !== 'string') return null;
    if (change.field === 'subjectId') return directory.subjectName(value);
    return MEMBER_FIELDS.has(change.field) ? directory.memberName(value) : null;
  };
  return { ...change, beforeName: nameOf(change.before), afterName: nameOf(change.after) };
}

const MEMBER_FIELDS: ReadonlySet<string> = new Set(['ownerId', 'ownerSuperiorId', 'acceptedBy']);

export const contractHistoryEndpoints = { listContractHistory };
