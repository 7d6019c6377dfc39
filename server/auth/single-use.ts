import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { fail, type Failure } from '../../data-plane-agent/base/failures.js';
import { randomToken, sha256Hex } from '../../data-plane-agent/base/secrets.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { anonymousActor } from '../access/actor.js';
import { AuditStore } from '../store/audit.js';

/**
 * A single-use token sent by mail: 32 random bytes, stored as a digest. The statement that finds a token also deletes
 * it.
 */
export function newToken(): { readonly token: string; readonly tokenHash: string } {
  const token = randomToken(32);
  return { token, tokenHash: tokenHash(token) };
}

/** A plain digest is enough, because the token has as much entropy as a key. */
export const tokenHash = (token: string): string => sha256Hex(token);

/**
 * A link to a page that reads the token. The host is the configured one, never that of the request. The token is in the
 * fragment, which browsers do not send to servers, so it does not get into logs.
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
 * Audits the refusal of a token and returns the failure to throw: the same for unknown, used, expired and foreign
 * tokens.
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
      actor: anonymousActor(request),
      action: 'token_refused',
      recordKind: kind,
      recordId: null,
    }),
  );
  return fail('TOKEN_INVALID', {});
}
