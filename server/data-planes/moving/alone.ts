import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../data-plane-agent/base/clock.js';
import type { Database } from '../../../data-plane-agent/base/database/database.js';
import { Leases } from '../../../data-plane-agent/base/database/leases.js';
import { newId } from '../../../data-plane-agent/base/ids.js';
import type { Log } from '../../../data-plane-agent/base/log.js';
import type { OnProgress } from './copy-rows.js';

/** A process that was killed is replaced after this time. */
const LEASE_MS = 15_000;
const POLL_MS = 500;

export interface AloneOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** How long another process is waited for, which may have been killed: by default longer than its lease. */
  readonly waitMs?: number | undefined;
}

export interface AloneRequest {
  readonly tenant: { readonly id: string };
  readonly onProgress?: OnProgress | undefined;
}

/** Runs `work` while no other process moves, exports or imports the data of the organisation. */
export type Alone = <T extends object>(request: AloneRequest, work: () => Promise<T>) => Promise<T>;

/** `busy` makes the error if another process does not end. */
export function createAlone(
  { database, clock, log, waitMs = LEASE_MS + 1_000 }: AloneOptions,
  busy: () => Error,
): Alone {
  const leases = new Leases(database, clock, { holder: newId(), log });
  return async ({ tenant, onProgress }, work) => {
    for (const giveUpAt = performance.now() + waitMs; ; await sleep(POLL_MS)) {
      const result = await leases.during(`data-move:${tenant.id}`, LEASE_MS, work);
      if (result) return result;
      if (performance.now() > giveUpAt) throw busy();
      onProgress?.('waiting: another process was moving this data, and may have been killed');
    }
  };
}
