import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';

/** The responses of a misbehaving provider. */
export interface Manipulation {
  /** Claims that replace the correct ones. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** `alg` of the token's header, and the signing algorithm. */
  readonly sign?: 'right' | 'other_key' | 'none' | 'hs256' | 'no_signature';
  /** Instead of a token response. */
  readonly tokenAnswer?: {
    readonly status: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body: string;
  };
  /** By default, UserInfo returns only the subject. */
  readonly userInfo?: Readonly<Record<string, unknown>>;
  /** Replaces parts of the discovery document. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A fake provider that returns the manipulated responses set by the test. It has no sign-in page. */
export interface FakeProvider {
  readonly issuer: string;
  settings(more?: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  lie: Manipulation;
  /** The nonce sent by the service. */
  nonce: string;
  /** The requested paths. */
  readonly asked: readonly string[];
  stop(): Promise<void>;
}

export async function startFakeProvider(): Promise<FakeProvider> {
  const [right, other] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')]);
  const jwk = { ...(await exportJWK(right.publicKey)), kid: 'right', alg: 'RS256', use: 'sig' };
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://liar').pathname;
    asked.push(path);
    answer(path).then(
      ({ status, headers, body }) =>
        response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const issuer = await new Promise<string>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)),
  );

  const json = (value: unknown): NonNullable<Manipulation['tokenAnswer']> => ({
    status: 200,
    body: JSON.stringify(value),
  });
  const answer = async (path: string): Promise<NonNullable<Manipulation['tokenAnswer']>> => {
    const { metadata = {}, tokenAnswer, userInfo } = liar.lie;
    if (path === '/.well-known/openid-configuration') {
      return json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        userinfo_endpoint: `${issuer}/userinfo`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256', 'none', 'HS256'],
        code_challenge_methods_supported: ['S256'],
        ...metadata,
      });
    }
    if (path === '/jwks') return json({ keys: [jwk] });
    if (path === '/userinfo') return json(userInfo ?? { sub: liar.lie.claims?.['sub'] ?? SUBJECT });
    return (
      tokenAnswer ??
      json({ access_token: 'opaque-access-token', token_type: 'Bearer', expires_in: 60, id_token: await token() })
    );
  };

  const token = async (): Promise<string> => {
    const now = Math.floor(Date.now() / 1_000);
    const claims: JWTPayload = {
      iss: issuer,
      aud: CLIENT_ID,
      sub: SUBJECT,
      nonce: liar.nonce,
      iat: now,
      exp: now + 300,
      ...liar.lie.claims,
    };
    const sign = liar.lie.sign ?? 'right';
    if (sign === 'none') return `${encoded({ alg: 'none' })}.${encoded(claims)}.`;
    const jwt = new SignJWT(claims);
    if (sign === 'hs256') return jwt.setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(SECRET));
    const signed = await jwt
      .setProtectedHeader({ alg: 'RS256', kid: 'right' })
      .sign(sign === 'other_key' ? other.privateKey : right.privateKey);
    return sign === 'no_signature' ? `${signed.slice(0, signed.lastIndexOf('.'))}.` : signed;
  };

  const liar: FakeProvider = {
    issuer,
    lie: {},
    nonce: '',
    asked,
    settings: (more = {}) => ({ id: 'liar', name: 'Liar', issuer, clientId: CLIENT_ID, clientSecret: SECRET, ...more }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return liar;
}

const CLIENT_ID = 'duebook-at-liar';
const SUBJECT = 'liar-subject';
const SECRET = 'a-secret-that-the-liar-knows-as-well-0123456789';

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
