import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import type { HttpMiddleware } from '../../data-plane-agent/base/http/exchange.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { Changes } from '../access/changes.js';
import type { Edition } from '../access/edition.js';
import { createJoining } from '../data-planes/joining/join.js';
import type { LinkKeys } from '../data-planes/joining/link-keys.js';
import { joiningRoutes, type JoiningRoutesOptions } from '../data-planes/joining/routes.js';

/** How agents join; no routes in editions without agents. */
export function composeJoining(
  { edition, ...settings }: { readonly edition: Edition; readonly keyRing: KeyRing; readonly publicUrl: string },
  {
    readJson,
    limit,
    ...parts
  }: Omit<JoiningRoutesOptions, 'joining'> & {
    readonly database: Database;
    readonly clock: Clock;
    readonly changes: Changes;
    readonly linkKeys: LinkKeys;
    readonly version: string;
  },
): readonly HttpMiddleware[] {
  if (edition !== 'enterprise_hybrid') return [];
  return [joiningRoutes({ joining: createJoining({ ...settings, ...parts }), readJson, limit })];
}
