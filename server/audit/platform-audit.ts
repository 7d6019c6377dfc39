import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import type {
  AuditChange,
  AuditCheck,
  AuditFilter,
  AuditHead,
  AuditRow,
} from '../../data-plane-agent/base/audit/records.js';
import type { AuditPage } from '../../data-plane-agent/plane/contract/records/audit.js';
import { pageOf } from '../../data-plane-agent/plane/contract/records/common.js';
import type { Link } from '../../data-plane-agent/base/audit/chain.js';
import { auditEntry } from '../../data-plane-agent/base/audit/entry.js';
import { AuditTrail, type TrailName } from '../../data-plane-agent/base/audit/trail.js';
import { fragment } from '../../data-plane-agent/base/database/fragments.js';
import type { Actor } from '../access/actor.js';
import { AuditStore } from '../store/audit.js';

/** A tenant's id, or `platform` for events without a tenant. */
export type ChainId = string;
export const PLATFORM_CHAIN = 'platform';

/** The audit of the platform database: sign-ins and changes of members, roles, settings and plans. */
export interface PlatformAudit {
  /** Newest first, with an exact total. */
  list(of: {
    readonly tenantId: string;
    readonly filter: AuditFilter;
    readonly page: number;
    readonly pageSize: number;
  }): Promise<AuditPage>;
  /** The complete events after an id, oldest first; empty at the end. */
  following(of: {
    readonly chain: ChainId;
    readonly afterId: string;
    readonly filter: AuditFilter;
  }): Promise<AuditRow[]>;
  /** Records the export of a chain in the tenant's chain; `source` is the exported plane. */
  exported(
    chain: {
      readonly tenantId: string | null;
      readonly source: 'platform' | 'data';
      readonly filter: AuditFilter;
      readonly at: number;
    },
    actor: Actor,
  ): Promise<void>;
  /** Chains with pending events. */
  waitingChains(): Promise<ChainId[]>;
  /** Chains the oldest pending events. */
  chain(chain: ChainId): Promise<{ readonly chained: number; readonly more: boolean }>;
  /** Checks a part of a chain, from the link of an earlier call, at most to a position. */
  check(chain: ChainId, from?: Link, until?: number): Promise<AuditCheck>;
  /** The end of the chain. */
  head(chain: ChainId): Promise<AuditHead>;
}

export function createPlatformAudit({ database, keyRing }: { database: Database; keyRing: KeyRing }): PlatformAudit {
  const scope = { tenantId: null };
  const trail = (tx: Transaction, chain: ChainId) => new AuditTrail(tx, keyRing, trailOf(chain));
  return {
    list: async ({ tenantId, filter, page, pageSize }) => {
      const { rows, total } = await database.read(scope, (tx) => trail(tx, tenantId).page(filter, { page, pageSize }));
      return pageOf(
        rows.map((row) => auditEntry(row, changesOf(row))),
        { page, pageSize, total },
      );
    },
    following: ({ chain, afterId, filter }) =>
      database.read(scope, (tx) => trail(tx, chain).following(afterId, filter)),
    exported: ({ tenantId, source, filter, at }, actor) =>
      database.write(scope, (tx) =>
        new AuditStore(tx).append({
          tenantId,
          at,
          actor,
          action: 'audit_exported',
          recordKind: 'audit',
          recordId: null,
          changes: { source, ...filter },
        }),
      ),
    waitingChains: async () => {
      const rows = await database.read(scope, (tx) =>
        tx.all('SELECT DISTINCT tenant_id FROM audit_log WHERE position IS NULL'),
      );
      return rows.map((row) => (row['tenant_id'] === null ? PLATFORM_CHAIN : String(row['tenant_id'])));
    },
    chain: (chain) => database.write(scope, (tx) => trail(tx, chain).chain()),
    check: (chain, from, until) => database.read(scope, (tx) => trail(tx, chain).check(from, until)),
    head: (chain) => database.read(scope, (tx) => trail(tx, chain).headNow()),
  };
}

const trailOf = (chain: ChainId): TrailName => ({
  chain,
  rows: chain === PLATFORM_CHAIN ? fragment('tenant_id IS NULL') : fragment('tenant_id = ?', chain),
  headKey: 'chain',
});

/** The platform stores changes as `{ name: { from, to } }` or `{ name: value }`. */
const changesOf = ({ changes, recordKind, recordId }: AuditRow): AuditChange[] =>
  Object.entries(JSON.parse(changes) as Readonly<Record<string, unknown>>).map(([field, value]) => ({
    recordKind,
    recordId,
    field,
    ...(isMove(value) ? { before: value.from ?? null, after: value.to ?? null } : { before: null, after: value }),
  }));

const isMove = (value: unknown): value is { from: unknown; to: unknown } =>
  typeof value === 'object' && value !== null && 'to' in value && 'from' in value;
