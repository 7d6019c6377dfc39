import type { Clock } from '../data-plane-agent/base/clock.js';
import type { KeyRing } from '../data-plane-agent/base/secrets.js';
import type { AuditFilter, AuditHead, AuditRow } from '../data-plane-agent/base/audit/records.js';
import { createPlatformAudit, PLATFORM_CHAIN } from '../server/audit/platform-audit.js';
import { verifyChain, type CheckStretch, type KeptHead, type Verified } from '../server/audit/verify.js';
import { systemCall } from '../server/data-planes/system-call.js';
import { createTenantLookup, type TenantLookup } from '../server/tenants/lookup.js';
import { CommandError } from './errors.js';
import { cliActor, type Planes } from './installation.js';

export type Source = 'platform' | 'data';

/** One chain of audit events, of the platform or of contract data. `tenantId` is null for events of no organisation. */
export interface Chain {
  readonly source: Source;
  readonly tenantId: string | null;
  readonly slug: string | null;
}

/**
 * The audit chains that this installation keeps. Those that agents keep are only included for a named organisation and
 * the source `data`. Throws NOT_FOUND for an unknown organisation.
 */
export async function chainsOf(
  { platform, tenant }: Planes,
  { slug, source }: { slug?: string | undefined; source?: Source | undefined },
): Promise<Chain[]> {
  const tenants = await tenantsOf(createTenantLookup({ database: platform }), slug);
  if (source === 'data' && !tenant && slug === undefined)
    throw new CommandError(
      'DATA_KEPT_BY_AGENTS',
      "contract data and its audit are kept by the organisations' own agents: name one with --tenant",
    );
  const chains: Chain[] = slug === undefined ? [{ source: 'platform', tenantId: null, slug: null }] : [];
  for (const { id, slug: name } of tenants) {
    chains.push({ source: 'platform', tenantId: id, slug: name });
    if (tenant || source === 'data') chains.push({ source: 'data', tenantId: id, slug: name });
  }
  return chains.filter((chain) => source === undefined || chain.source === source);
}

async function tenantsOf(tenants: TenantLookup, slug: string | undefined) {
  if (slug === undefined) return tenants.all();
  const one = await tenants.bySlug(slug);
  if (!one) throw new CommandError('NOT_FOUND', `there is no organisation ${slug}`);
  return [one];
}

interface Means {
  readonly keyRing: KeyRing;
  readonly clock: Clock;
}

export function verifyOne(
  planes: Planes,
  chain: Chain,
  {
    keyRing,
    clock,
    kept,
    onProgress,
  }: Means & { readonly kept: readonly KeptHead[]; readonly onProgress: (events: number) => void },
): Promise<Verified> {
  const { source, tenantId } = chain;
  if (source === 'data' && tenantId !== null) {
    const plane = planes.dataPlanes.forTenant(tenantId);
    const check: CheckStretch = async (from, until) =>
      (
        await plane.invoke(
          'checkAudit',
          { call: systemCall({ tenantId, actor: cliActor(), at: clock.now() }) },
          { from: from ?? null, ...(until === undefined ? {} : { until }) },
        )
      ).output;
    return verifyChain(check, { holdsSome: false, kept, onProgress });
  }
  const audit = createPlatformAudit({ database: planes.platform, keyRing });
  // The first event of every organisation is its creation, so its chain is never empty.
  return verifyChain((from, until) => audit.check(tenantId ?? PLATFORM_CHAIN, from, until), {
    holdsSome: tenantId !== null,
    kept,
    onProgress,
  });
}

/** The number of events in a chain and the hash of the last one. */
export async function headOf(
  { platform, dataPlanes }: Planes,
  { source, tenantId }: Chain,
  { keyRing, clock }: Means,
): Promise<AuditHead> {
  if (source === 'platform' || tenantId === null)
    return createPlatformAudit({ database: platform, keyRing }).head(tenantId ?? PLATFORM_CHAIN);
  return (
    await dataPlanes
      .forTenant(tenantId)
      .invoke('getAuditHead', { call: systemCall({ tenantId, actor: cliActor(), at: clock.now() }) }, {})
  ).output;
}

/** The events of a chain in their export form, oldest first. */
export async function* exportChain(
  planes: Planes,
  { source, tenantId, slug }: Chain,
  { keyRing, clock, filter }: Means & { readonly filter: AuditFilter },
): AsyncGenerator<object> {
  const audit = createPlatformAudit({ database: planes.platform, keyRing });
  const following = async (afterId: string): Promise<readonly AuditRow[]> => {
    if (source === 'platform' || tenantId === null)
      return audit.following({ chain: tenantId ?? PLATFORM_CHAIN, afterId, filter });
    const call = systemCall({ tenantId, actor: cliActor(), at: clock.now() });
    return (await planes.dataPlanes.forTenant(tenantId).invoke('exportAudit', { call }, { afterId, ...filter })).output
      .rows;
  };
  for (let rows = await following(BEFORE_ALL); rows.length > 0; rows = await following(rows.at(-1)?.id ?? BEFORE_ALL)) {
    for (const { changes, ...row } of rows)
      yield { source, tenant: slug, ...row, changes: JSON.parse(changes) as unknown };
  }
}

/** Records the export in the platform's audit. */
export const recordExport = (
  { platform }: Planes,
  { tenantId, source }: Chain,
  { keyRing, clock, filter }: Means & { readonly filter: AuditFilter },
): Promise<void> =>
  createPlatformAudit({ database: platform, keyRing }).exported(
    { tenantId, source, filter, at: clock.now() },
    cliActor(),
  );

/** An id that comes before every other. */
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
