import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { fail, type Failure } from '../../data-plane-agent/base/failures.js';
import { randomToken, sha256Hex } from '../../data-plane-agent/base/secrets.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { stranger } from '../access/actor.js';
import { AuditStore } from '../store/audit.js';

/**
 * Tokens that travel by mail: 32 random bytes, kept as a digest, and used up by the statement that finds them still
 * there.
 */
export function newToken(): { readonly token: string; readonly tokenHash: string } {
  const token = randomToken(32);
  return { token, tokenHash: tokenHash(token) };
}

/** As random as a key, so a plain digest cannot be guessed back. */
export const tokenHash = (token: string): string => sha256Hex(token);

/**
 * A page of the installation that takes the token. The host is the configured one, never the request's; the token
 * stands after the #, which browsers send to no server, so that it gets into no log.
 */
export const tokenLink = ({
  publicUrl,
  page,
  token,
  tenantSlug,
}: {
  publicUrl: string;
  page: string;
  token: string;
  tenantSlug: string;
}): string =>
  `${publicUrl.replace(/\/$/, '')}/${page}#${new URLSearchParams({ token, tenant: tenantSlug }).toString()}`;

/**
 * Writes down that a token was refused, and answers what to throw: the same for unknown, used, expired and foreign
 * ones.
 */
export async function refusedToken({
  database,
  clock,
  kind,
  tenantId,
  request,
}: {
  database: Database;
  clock: Clock;
  kind: 'invitation' | 'password_reset';
  tenantId: string | null;
  request: RequestInfo;
}): Promise<Failure<'TOKEN_INVALID'>> {
  await database.write({ tenantId: null }, (tx) =>
    new AuditStore(tx).append({
      tenantId,
      at: clock.now(),
      actor: stranger(request),
      action: 'token_refused',
      recordKind: kind,
      recordId: null,
    }),
  );
  return fail('TOKEN_INVALID', {});
}
