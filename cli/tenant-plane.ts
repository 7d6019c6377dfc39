import type { Call } from '../data-plane-agent/plane/contract/call.js';
import { bind } from '../data-plane-agent/plane/contract/data-plane.js';
import { WORKFLOW_STAGES } from '../data-plane-agent/plane/contract/vocabulary.js';
import type { Config } from '../server/config.js';
import type { Plane } from '../server/data-planes/plane.js';
import { systemCall } from '../server/data-planes/system-call.js';
import { createChanges } from '../server/access/changes.js';
import { createDirectory, type TenantDirectory } from '../server/tenants/directory.js';
import { createTenantLookup } from '../server/tenants/lookup.js';
import type { Cli } from './cli.js';
import { CommandError } from './errors.js';
import { cliActor, withPlanes } from './installation.js';

/** The contract data of one organisation with unrestricted access, in its time zone and with its settings. */
export interface TenantPlane {
  readonly call: Call;
  readonly plane: Plane;
  readonly directory: TenantDirectory;
  readonly roleCodes: readonly string[];
}

/**
 * Throws NOT_FOUND for an unknown organisation. The contract data of agents is reached over their links: what it throws
 * while one is away, the operations throw.
 */
export function withTenantPlane<T>(
  config: Config,
  { cli, slug }: { readonly cli: Cli; readonly slug: string },
  work: (tenant: TenantPlane) => Promise<T>,
): Promise<T> {
  return withPlanes(config, cli, async ({ platform, dataPlanes }) => {
    const tenants = createTenantLookup({ database: platform });
    const record = await tenants.bySlug(slug);
    if (!record) throw new CommandError('NOT_FOUND', `there is no organisation ${slug}`);
    const at = cli.clock.now();
    // Imported contracts may be at any stage.
    const controls = Object.fromEntries(WORKFLOW_STAGES.map((stage) => [stage, 'admin' as const]));
    const call: Call = {
      ...systemCall({ tenantId: record.id, settings: record.settings, actor: cliActor(), at }),
      controls,
    };
    const directory = await createDirectory({ database: platform, clock: cli.clock, changes: createChanges() }).of(
      record.id,
    );
    const { OPERATIONS } = await import('./plane-parts.js');
    return work({
      call,
      plane: bind(dataPlanes.forTenant(record.id), call, { operations: OPERATIONS }),
      directory,
      roleCodes: await tenants.roleCodes(record.id),
    });
  });
}
