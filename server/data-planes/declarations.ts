import type { Component } from '../../data-plane-agent/base/link/messages.js';
import type { DetailsOf } from '../../data-plane-agent/base/failures.js';
import type { ConnectionRecord } from '../store/connections.js';

export type Declaration = Pick<ConnectionRecord, 'kind' | 'provider' | 'location'>;
export type Mismatch = DetailsOf<'DATA_PLANE_MISMATCH'>['mismatches'][number];

/** What an agent reports, and a tenant may declare. */
export const COMPONENT_KINDS: ReadonlySet<string> = new Set<Component['kind']>([
  'database',
  'object_storage',
  'malware_scanner',
]);

/**
 * Where declarations of components differ from what the agent reported: by kind, provider before location. A field that
 * is `null` declares nothing; other kinds are notes, and have no effect.
 */
export function mismatches(
  declarations: readonly Declaration[],
  components: readonly Pick<Component, 'kind' | 'provider' | 'location'>[],
): Mismatch[] {
  return declarations
    .filter(({ kind }) => COMPONENT_KINDS.has(kind))
    .toSorted((a, b) => (a.kind < b.kind ? -1 : 1))
    .flatMap(({ kind, provider, location }): Mismatch[] => {
      const reported = components.find((component) => component.kind === kind);
      return [
        ...(provider === null || isProvider(provider, reported?.provider)
          ? []
          : [{ kind, field: 'provider', declared: provider, reported: reported?.provider ?? null }]),
        ...(location === null || location === reported?.location
          ? []
          : [{ kind, field: 'location', declared: location, reported: reported?.location ?? null }]),
      ];
    });
}

/** Other names of a provider, and more general ones: MinIO is a store with the S3 interface. */
function isProvider(declared: string, reported: Component['provider'] | undefined): boolean {
  const name = declared.toLowerCase();
  if (name === 'postgresql') return reported === 'postgres';
  if (name === 's3') return reported === 's3' || reported === 'minio';
  return name === reported;
}
