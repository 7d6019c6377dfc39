import { decodeJwt, errors } from 'jose';
import type { Clock } from '../../../data-plane-agent/base/clock.js';
import type { Database } from '../../../data-plane-agent/base/database/database.js';
import { fail } from '../../../data-plane-agent/base/failures.js';
import { verifierOf } from '../../../data-plane-agent/base/link/keys.js';
import {
  SKEW_MS,
  TokenRefused,
  verifyToken,
  type TokenType,
  type VerifiedToken,
} from '../../../data-plane-agent/base/link/tokens.js';
import {
  acceptedKeys,
  LinkedConnectionStore,
  type AgentKey,
  type LinkedConnection,
} from '../../store/linked-connections.js';
import { LinkTokenStore } from '../../store/link-tokens.js';
import { tokenRefusal } from './token-refusals.js';

/** An agent that has shown that it has a valid key of the connection. */
export interface AuthenticatedAgent {
  readonly connection: LinkedConnection;
  /** The key with which it signed. */
  readonly key: AgentKey;
  readonly claims: VerifiedToken;
}

/**
 * Verifies a token with which an agent identifies itself, once for all replicas. Throws LINK_TOKEN_REFUSED, CLOCK_SKEW,
 * CONNECTION_REVOKED or CONNECTION_SUSPENDED.
 */
export async function authenticateAgent(
  { token, type }: { readonly token: string; readonly type: TokenType & ('connect' | 'rotate') },
  { database, clock, publicUrl }: { readonly database: Database; readonly clock: Clock; readonly publicUrl: string },
): Promise<AuthenticatedAgent> {
  const scope = { tenantId: null };
  try {
    const connectionId = issuerOf(token);
    const connection = await database.read(scope, (tx) => new LinkedConnectionStore(tx).byId(connectionId));
    if (!connection) throw new TokenRefused('unknown_key', 'the service has no such connection');
    // Without keys there is nothing to verify with. Ids of connections are not secret, and their state says little.
    if (connection.status === 'suspended') throw fail('CONNECTION_SUSPENDED', {});
    if (connection.status !== 'connected') throw fail('CONNECTION_REVOKED', {});
    const accepted = acceptedKeys(connection, clock.now());
    let key: AgentKey | undefined;
    const claims = await verifyToken(
      token,
      { type, issuer: connection.id, audience: publicUrl },
      {
        clock,
        required: ['sub'],
        keyOf: (kid) => {
          key = accepted.find((one) => one.kid === kid);
          return key && verifierOf(key.key);
        },
      },
    );
    if (!key || claims.sub !== connection.id) throw new TokenRefused('claims', 'the token has another sub');
    const { jti, exp } = claims;
    const isNew = await database.write(scope, (tx) =>
      new LinkTokenStore(tx).use({ jti, expiresAt: exp * 1_000 + SKEW_MS }),
    );
    if (!isNew) throw new TokenRefused('replayed', 'the token was used before');
    return { connection, key, claims };
  } catch (error) {
    throw tokenRefusal(error, { token, clock });
  }
}

/** Not verified yet: only to find the keys to verify with. */
function issuerOf(token: string): string {
  if (token.length > MAX_LENGTH) throw new TokenRefused('malformed', 'the token is too long');
  try {
    return decodeJwt(token).iss ?? '';
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError)
      throw new TokenRefused('malformed', 'the token is malformed', { cause: error });
    throw error;
  }
}

const MAX_LENGTH = 16_000;
