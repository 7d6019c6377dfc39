import type { Clock } from '../../../data-plane-agent/base/clock.js';
import type { Database } from '../../../data-plane-agent/base/database/database.js';
import { newId } from '../../../data-plane-agent/base/ids.js';
import type { Log } from '../../../data-plane-agent/base/log.js';
import type { KeyRing } from '../../../data-plane-agent/base/secrets.js';
import type { Actor } from '../../access/actor.js';
import { isAway } from '../../data-planes/away.js';
import { AuditStore } from '../../store/audit.js';
import { CalendarConnectionStore, refreshContext, type CalendarConnection } from '../../store/calendar-connections.js';
import { GrantError, type CalendarOauth } from './oauth.js';
import type { ConfiguredProvider } from './providers.js';
import type { Sync } from './sync.js';

/** The scheduled work on calendars. */
export interface CalendarUpkeep {
  isPushDue(): Promise<boolean>;
  /** Pushes for the connections that are due, a few at a time, and ends when the signal is aborted. */
  pushDue(signal: AbortSignal): Promise<void>;
  isRevocationDue(): Promise<boolean>;
  /** Revokes the grants of ended connections at the provider. */
  revokeDue(signal: AbortSignal): Promise<void>;
}

export interface UpkeepParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly log: Log;
  /** Without a configured provider nothing is pushed, and ended connections are only deleted. */
  readonly provider:
    { readonly configured: ConfiguredProvider; readonly oauth: CalendarOauth; readonly sync: Sync } | undefined;
}

const BATCH = 20;
const AT_ONCE = 4;
/** The time for one tenant; what is left is continued in the next round. */
const BUDGET_MS = 60_000;
/** The delays after failed attempts to revoke a grant; when all are used, it is given up. */
const RETRY_MS = [60_000, 5 * 60_000, 30 * 60_000, 2 * 3_600_000, 8 * 3_600_000, 24 * 3_600_000] as const;

export function createUpkeep({ database, clock, keyRing, log, provider }: UpkeepParts): CalendarUpkeep {
  const scope = { tenantId: null };
  const due = (limit: number) =>
    database.read(scope, (tx) => new CalendarConnectionStore(tx).due({ at: clock.now(), limit }));
  const ending = (limit: number) =>
    database.read(scope, (tx) => new CalendarConnectionStore(tx).ending({ at: clock.now(), limit }));
  const actor = (): Actor => ({ kind: 'system', id: null, name: 'calendar', ip: null, requestId: newId() });

  const push = async (
    place: { readonly tenantId: string; readonly id: string },
    { configured, sync }: NonNullable<UpkeepParts['provider']>,
    signal: AbortSignal,
  ): Promise<void> => {
    const { tenantId } = place;
    const connection = await database.read(scope, (tx) => new CalendarConnectionStore(tx).byId(place));
    if (!connection) return;
    if (!isOf(connection, configured))
      return database.write(scope, (tx) =>
        new CalendarConnectionStore(tx).postpone({ ...place, nextAt: clock.now() + 24 * 3_600_000 }),
      );
    try {
      await sync({ connection, actor: actor(), budgetMs: BUDGET_MS, signal });
    } catch (error) {
      if (isAway(error)) return;
      log.error({ err: error, job: 'calendar', tenantId }, 'scheduled work failed for an organisation');
    }
  };

  const revoke = async (connection: CalendarConnection): Promise<Revocation> => {
    // A grant of another provider or client is not sent to this one.
    if (!provider || connection.refreshSealed === null || !isOf(connection, provider.configured)) return { is: 'none' };
    if (provider.configured.revokeUrl === null) return { is: 'none' };
    if (await database.read(scope, (tx) => new CalendarConnectionStore(tx).sharesAccount(connection)))
      return { is: 'none' };
    try {
      await provider.oauth.revoke(keyRing.openText(connection.refreshSealed, refreshContext(connection)));
      return { is: 'done' };
    } catch (error) {
      if (!(error instanceof GrantError)) throw error;
      // The provider answers so for a token that is already of no use.
      return ['invalid_token', 'invalid_grant'].includes(error.reason)
        ? { is: 'done' }
        : { is: 'failed', reason: error.reason };
    }
  };

  const settle = (connection: CalendarConnection, revocation: Revocation): Promise<void> =>
    database.write(scope, async (tx) => {
      const connections = new CalendarConnectionStore(tx);
      const at = clock.now();
      const delayMs = RETRY_MS[connection.attempts];
      if (revocation.is === 'failed' && delayMs !== undefined)
        return connections.retryEnding({ ...connection, nextAt: at + delayMs });
      if (!(await connections.deleteEnding(connection)) || revocation.is === 'none') return;
      await new AuditStore(tx).append({
        tenantId: connection.tenantId,
        at,
        actor: actor(),
        action: revocation.is === 'done' ? 'calendar_revoked' : 'calendar_revocation_failed',
        recordKind: 'calendar_connection',
        recordId: connection.id,
        changes: { provider: connection.providerId, reason: revocation.reason ?? 'disconnected' },
      });
    });

  return {
    isPushDue: async () => provider !== undefined && (await due(1)).length > 0,
    pushDue: async (signal) => {
      if (!provider) return;
      const waiting = (await due(BATCH))[Symbol.iterator]();
      const worker = async (): Promise<void> => {
        for (let next = waiting.next(); next.done !== true && !signal.aborted; next = waiting.next())
          await push(next.value, provider, signal);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
    },
    isRevocationDue: async () => (await ending(1)).length > 0,
    revokeDue: async (signal) => {
      for (const connection of await ending(BATCH)) {
        if (signal.aborted) return;
        await settle(connection, await revoke(connection));
      }
    },
  };
}

/** `none`: there is nothing that can be revoked at the provider, or other connections use the same grant. */
interface Revocation {
  readonly is: 'done' | 'none' | 'failed';
  readonly reason?: string;
}

/** Whether the tokens of a connection were issued by the configured provider to the configured client. */
export const isOf = (
  { providerId, clientId }: Pick<CalendarConnection, 'providerId' | 'clientId'>,
  configured: Pick<ConfiguredProvider, 'provider' | 'clientId'>,
): boolean => providerId === configured.provider.id && clientId === configured.clientId;
