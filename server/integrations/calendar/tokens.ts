import type { Clock } from '../../../data-plane-agent/base/clock.js';
import type { Database } from '../../../data-plane-agent/base/database/database.js';
import type { KeyRing } from '../../../data-plane-agent/base/secrets.js';
import {
  accessContext,
  CalendarConnectionStore,
  refreshContext,
  type CalendarConnection,
} from '../../store/calendar-connections.js';
import type { CalendarOauth, Grant } from './oauth.js';

/** An access token is renewed so long before it expires, so that it is valid when the provider checks it. */
const EARLY_MS = 60_000;

/** The sealed tokens of a connection, as they are stored. */
export const sealedTokens = (
  place: Pick<CalendarConnection, 'tenantId' | 'id'>,
  { accessToken, expiresAt, refreshToken }: Grant & { readonly refreshToken: string },
  keyRing: KeyRing,
): Pick<CalendarConnection, 'refreshSealed' | 'accessSealed' | 'accessExpiresAt'> => ({
  refreshSealed: keyRing.seal(refreshToken, refreshContext(place)),
  accessSealed: keyRing.seal(accessToken, accessContext(place)),
  accessExpiresAt: expiresAt,
});

/**
 * The access token of a connection, renewed when it is due. Only the run that holds the connection calls it. Throws
 * GrantError.
 */
export function accessTokens(
  connection: CalendarConnection,
  { database, clock, keyRing, oauth }: { database: Database; clock: Clock; keyRing: KeyRing; oauth: CalendarOauth },
): (refused: string | null) => Promise<string> {
  const { tenantId, id } = connection;
  let current =
    connection.accessSealed !== null && connection.accessExpiresAt !== null
      ? {
          token: keyRing.openText(connection.accessSealed, accessContext(connection)),
          expiresAt: connection.accessExpiresAt,
        }
      : undefined;
  let { refreshSealed } = connection;
  let renewing: Promise<string> | undefined;

  const renew = async (): Promise<string> => {
    if (refreshSealed === null) throw new TypeError('a connection without a refresh token cannot be used');
    const refreshToken = keyRing.openText(refreshSealed, refreshContext(connection));
    const grant = await oauth.refresh(refreshToken);
    const sealed = sealedTokens(connection, { ...grant, refreshToken: grant.refreshToken ?? refreshToken }, keyRing);
    await database.write({ tenantId: null }, (tx) =>
      new CalendarConnectionStore(tx).setTokens({ tenantId, id, ...sealed }),
    );
    ({ refreshSealed } = sealed);
    current = { token: grant.accessToken, expiresAt: grant.expiresAt };
    return grant.accessToken;
  };

  /** Concurrent requests wait for the same renewal. */
  const renewOnce = (): Promise<string> => (renewing ??= renew().finally(() => (renewing = undefined)));

  return async (refused) => {
    if (renewing) return renewing;
    const isUsable = current && current.token !== refused && current.expiresAt - EARLY_MS > clock.now();
    return isUsable && current ? current.token : renewOnce();
  };
}
