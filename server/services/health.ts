import { randomUUID } from 'node:crypto';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import { iso } from '../../data-plane-agent/base/instants.js';
import type { ScannerState } from '../../data-plane-agent/plane/files/scanner/scanner.js';
import type { Edition } from '../access/edition.js';
import type { HealthRecord } from './health.schemas.js';

export interface Health {
  record(): Promise<HealthRecord>;
  platformDbUp(): Promise<boolean>;
}

/** The timeout of a database check. */
const CHECK_MS = 1_000;
/** How long a result is cached, so that polling does not load the databases. */
const FRESH_MS = 2_000;

export type Check = (timeoutMs: number) => Promise<boolean>;

export function createHealth({
  edition,
  clock,
  platformDb,
  tenantDb,
  scanner,
}: {
  edition: Edition;
  clock: Clock;
  platformDb: Check;
  tenantDb: Check;
  /** What is known of the scanner, without asking it. */
  scanner: () => ScannerState;
}): Health {
  const isolate = randomUUID();
  const platformDbUp = remembered(platformDb);
  const tenantDbUp = remembered(tenantDb);
  return {
    platformDbUp,
    record: async () => {
      const [platform, tenant] = await Promise.all([platformDbUp(), tenantDbUp()]);
      return {
        status: platform && tenant ? 'ok' : 'degraded',
        edition,
        platformDb: platform ? 'up' : 'down',
        tenantDb: tenant ? 'up' : 'down',
        scanner: scanner(),
        time: iso(clock.now()),
        isolate,
      };
    },
  };
}

/** Runs one check at a time and caches its result. Uses the real time, which a test clock does not change. */
function remembered(check: Check): () => Promise<boolean> {
  let answer: Promise<boolean> | undefined;
  let askedAt = 0;
  return () => {
    const now = performance.now();
    if (!answer || now - askedAt > FRESH_MS) {
      askedAt = now;
      answer = check(CHECK_MS).catch(() => false); // a check that throws counts as down
    }
    return answer;
  };
}
