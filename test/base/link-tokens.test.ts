import { expect } from 'chai';
import fc from 'fast-check';
import { createHmac, createPrivateKey, sign } from 'node:crypto';
import type { JWK } from 'jose';
import {
  keyIdOf,
  newLinkKey,
  PublicKey,
  signerOf,
  verifierOf,
  type LinkKeyPair,
} from '../../data-plane-agent/base/link/keys.js';
import {
  createSeenTokens,
  signToken,
  SKEW_MS,
  TOKEN_LIFE,
  TOKEN_TYPES,
  TokenRefused,
  verifyToken,
  type TokenFacts,
  type TokenRefusal,
  type TokenType,
} from '../../data-plane-agent/base/link/tokens.js';
import { checker } from '../../data-plane-agent/base/validation.js';
import { fakeClock } from '../support/clock.js';

const FACTS: TokenFacts = { type: 'connect', issuer: 'connection', audience: 'https://contracts.example' };

const refusalOf = async (work: Promise<unknown>): Promise<TokenRefusal | 'accepted'> =>
  work.then(
    () => 'accepted' as const,
    (error: unknown) => {
      if (error instanceof TokenRefused) return error.reason;
      throw error;
    },
  );

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token as an attacker, or a careless signer with the right key, would make it. */
function crafted(
  { kid, privateJwk }: LinkKeyPair,
  { header = {}, claims }: { header?: object; claims: object },
): string {
  const text = `${encoded({ alg: 'EdDSA', typ: TOKEN_TYPES.connect, kid, ...header })}.${encoded(claims)}`;
  const key = createPrivateKey({ key: privateJwk as Record<string, string>, format: 'jwk' });
  return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`;
}

describe('the tokens of a link', () => {
  const clock = fakeClock();
  let pair: LinkKeyPair;
  let other: LinkKeyPair;

  before(async () => {
    [pair, other] = [await newLinkKey(), await newLinkKey()];
  });

  const signed = async (facts: TokenFacts = FACTS, claims: object = {}): Promise<string> =>
    signToken(facts, { claims: { ...claims }, signer: signerOf(pair), clock });

  /** Verifies as a receiver whose clock differs by as many milliseconds. */
  const verify = (
    token: string,
    { facts = FACTS, skewMs = 0, ...options }: { facts?: TokenFacts; skewMs?: number; required?: string[] } = {},
  ) =>
    verifyToken(token, facts, {
      keyOf: (kid) => (kid === pair.kid ? verifierOf(pair.publicJwk) : undefined),
      clock: { now: () => clock.now() + skewMs },
      ...options,
    });

  const times = () => {
    const iat = Math.floor(clock.now() / 1_000);
    return { iat, exp: iat + 60, jti: 'a', iss: FACTS.issuer, aud: FACTS.audience };
  };

  it('are accepted for what they were made, with their claims', async () => {
    const claims = await verify(await signed(FACTS, { sub: 'connection' }), { required: ['sub'] });
    expect(claims).to.include({ iss: 'connection', aud: FACTS.audience, sub: 'connection' });
    expect(claims.exp - claims.iat).to.equal(60);
    expect(claims.jti).to.match(/^[0-9a-f-]{36}$/);
  });

  it('are accepted for nothing else: another type, issuer or audience', async () => {
    const token = await signed();
    for (const type of Object.keys(TOKEN_TYPES) as TokenType[])
      expect(await refusalOf(verify(token, { facts: { ...FACTS, type } })), type).to.equal(
        type === 'connect' ? 'accepted' : 'claims',
      );
    expect(await refusalOf(verify(token, { facts: { ...FACTS, issuer: 'another' } }))).to.equal('claims');
    expect(await refusalOf(verify(token, { facts: { ...FACTS, audience: 'https://test.example' } }))).to.equal(
      'claims',
    );
  });

  it('have the only accepted algorithm: neither none nor a shared secret', async () => {
    const claims = times();
    const unsigned = `${encoded({ alg: 'none', typ: TOKEN_TYPES.connect, kid: pair.kid })}.${encoded(claims)}.`;
    expect(await refusalOf(verify(unsigned))).to.equal('malformed');
    // The public key, taken as a shared secret.
    const text = `${encoded({ alg: 'HS256', typ: TOKEN_TYPES.connect, kid: pair.kid })}.${encoded(claims)}`;
    const mac = createHmac('sha256', Buffer.from(pair.publicJwk.x, 'base64url')).update(text).digest('base64url');
    expect(await refusalOf(verify(`${text}.${mac}`))).to.equal('malformed');
  });

  it('have no extensions that must be understood', async () => {
    const header = { crit: ['exp-policy'], 'exp-policy': 'none' };
    expect(await refusalOf(verify(crafted(pair, { header, claims: times() })))).to.equal('malformed');
  });

  it('have all their claims', async () => {
    const complete = { ...times(), sub: 'connection' };
    expect(await refusalOf(verify(crafted(pair, { claims: complete }), { required: ['sub'] }))).to.equal('accepted');
    for (const name of ['exp', 'iat', 'jti', 'iss', 'aud', 'sub']) {
      const { [name as 'exp']: _, ...claims } = complete;
      expect(await refusalOf(verify(crafted(pair, { claims }), { required: ['sub'] })), name).to.equal('claims');
    }
    for (const jti of [7, {}, 'x'.repeat(101)])
      expect(await refusalOf(verify(crafted(pair, { claims: { ...complete, jti } })))).to.equal('claims');
  });

  it('live no longer than tokens of their type', async () => {
    const { iat } = times();
    const claims = { ...times(), exp: iat + 3_600 };
    expect(await refusalOf(verify(crafted(pair, { claims })))).to.equal('claims');
  });

  it('are refused with an unknown key, without one, and with the signature of another', async () => {
    expect(await refusalOf(verify(crafted(other, { claims: times() })))).to.equal('unknown_key');
    expect(await refusalOf(verify(crafted(pair, { header: { kid: undefined }, claims: times() })))).to.equal(
      'unknown_key',
    );
    expect(await refusalOf(verify(crafted(other, { header: { kid: pair.kid }, claims: times() })))).to.equal(
      'signature',
    );
    const header = { jwk: other.publicJwk, kid: other.kid };
    expect(await refusalOf(verify(crafted(other, { header, claims: times() })))).to.equal('unknown_key');
  });

  it('are refused when any bit of theirs is changed', async () => {
    const token = await signed();
    const parts = token.split('.').map((part) => Buffer.from(part, 'base64url'));
    const where = fc.integer({ min: 0, max: 2 }).chain((part) =>
      fc.record({
        part: fc.constant(part),
        at: fc.integer({ min: 0, max: (parts[part]?.length ?? 1) - 1 }),
        bit: fc.integer({ min: 0, max: 7 }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(where, async ({ part, at, bit }) => {
        const changed = parts.map((bytes) => Buffer.from(bytes));
        const bytes = changed[part] ?? Buffer.alloc(1);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        const refusal = await refusalOf(verify(changed.map((one) => one.toString('base64url')).join('.')));
        if (part === 2) expect(refusal).to.equal('signature');
        else expect(refusal).to.be.oneOf(['signature', 'malformed', 'unknown_key', 'claims']);
      }),
      { seed: 20_261_123, numRuns: 300 },
    );
  });

  it('that are no tokens are refused as malformed', async () => {
    for (const token of ['', '.', '..', 'a.b.c', 'x'.repeat(20_000), `${await signed()}.a`, '{"alg":"EdDSA"}'])
      expect(await refusalOf(verify(token)), token.slice(0, 20)).to.equal('malformed');
  });

  it('tolerate clocks that differ by 59 seconds, and name the difference when it is five minutes', async () => {
    const token = await signed();
    for (const skewMs of [-59_000, 59_000]) expect(await refusalOf(verify(token, { skewMs }))).to.equal('accepted');
    for (const [skewMs, text] of [
      [-300_000, '300 s in the future'],
      [300_000, '300 s ago'],
    ] as const) {
      const error: unknown = await verify(token, { skewMs }).catch((refused: unknown) => refused);
      expect(error).to.include({ name: 'TokenRefused', reason: 'clock_skew' });
      expect(error).to.have.property('message').that.contains(text).and.contains('compare the clocks');
    }
  });

  it('of an unknown key learn nothing about the clocks', async () => {
    const claims = { ...times(), iat: 1, exp: 31 };
    expect(await refusalOf(verify(crafted(other, { claims })))).to.equal('unknown_key');
    expect(await refusalOf(verify(crafted(other, { header: { kid: pair.kid }, claims })))).to.equal('signature');
  });

  it('are used once, within their time and after it', async () => {
    const seen = createSeenTokens({ clock });
    const token = await signed();
    const use = (): Promise<string> =>
      refusalOf(verifyToken(token, FACTS, { keyOf: () => verifierOf(pair.publicJwk), clock, seen }));
    expect(await use()).to.equal('accepted');
    const started = clock.now();
    for (const ms of [0, 30_000, 89_000, TOKEN_LIFE.connect + SKEW_MS - 2_000]) {
      clock.set(started + ms);
      expect(await use(), String(ms)).to.equal('replayed');
    }
    for (const ms of [TOKEN_LIFE.connect + SKEW_MS + 1_000, 3_600_000]) {
      clock.set(started + ms);
      expect(await use(), String(ms)).to.equal('clock_skew');
    }
  });

  it('that were used are forgotten once expired; while too many are remembered, no further one is accepted', () => {
    const seen = createSeenTokens({ clock, most: 3 });
    const until = clock.now() + 1_000;
    expect(['a', 'b', 'a', 'c', 'd'].map((jti) => seen.add(jti, until))).to.deep.equal([
      true,
      true,
      false,
      true,
      false,
    ]);
    clock.advance(1_000);
    expect(seen.add('d', until + 1_000)).to.equal(true);
  });
});

describe('the keys of a link', () => {
  it('have their RFC 7638 thumbprint as id, and never show the private half', async () => {
    // The example of RFC 8037, appendix A.3.
    const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
    expect(await keyIdOf({ kty: 'OKP', crv: 'Ed25519', x })).to.equal('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
    const { publicJwk, privateJwk, kid } = await newLinkKey();
    expect(Object.keys(publicJwk).toSorted()).to.deep.equal(['crv', 'kty', 'x']);
    expect((privateJwk as JWK).d).to.be.a('string');
    expect(await keyIdOf(publicJwk)).to.equal(kid);
  });

  it('are accepted only as Ed25519 keys', () => {
    const check = checker(PublicKey);
    const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
    expect(check({ kty: 'OKP', crv: 'Ed25519', x }).ok).to.equal(true);
    for (const key of [
      { kty: 'EC', crv: 'P-256', x },
      { kty: 'OKP', crv: 'X25519', x },
      { kty: 'OKP', crv: 'Ed25519', x: `${x}=` },
    ])
      expect(check(key).ok).to.equal(false);
  });
});
