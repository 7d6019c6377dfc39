import { expect } from 'chai';
import type { KeyObject } from 'node:crypto';
import {
  signReply,
  signRequest,
  verifyReply,
  verifyRequest,
  type RequestFacts,
} from '../../data-plane-agent/base/link/envelope.js';
import { newLinkKey, signerOf, verifierOf, type LinkKeyPair } from '../../data-plane-agent/base/link/keys.js';
import { createSeenTokens, type SeenTokens, TokenRefused } from '../../data-plane-agent/base/link/tokens.js';
import { fakeClock } from '../support/clock.js';

const FACTS: RequestFacts = {
  controlPlane: 'https://contracts.example',
  connectionId: '018f0000-0000-7000-8000-000000000001',
  tenantId: '018f0000-0000-7000-8000-000000000002',
  session: '018f0000-0000-7000-8000-000000000003',
};
const OTHER = '018f0000-0000-7000-8000-00000000000f';

const refusalOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'accepted',
    (error: unknown) => {
      if (error instanceof TokenRefused) return error.reason;
      throw error;
    },
  );

const flipped = (body: Uint8Array, at = 0): Uint8Array => Buffer.from(body).fill((body[at] ?? 0) ^ 1, at, at + 1);

describe('the signed envelope', () => {
  const clock = fakeClock();
  let control: LinkKeyPair;
  let agent: LinkKeyPair;
  let seen: SeenTokens;

  before(async () => {
    [control, agent] = [await newLinkKey(), await newLinkKey()];
  });
  beforeEach(() => {
    seen = createSeenTokens({ clock });
  });

  const keyOf =
    (pair: LinkKeyPair) =>
    (kid: string): KeyObject | undefined =>
      kid === pair.kid ? verifierOf(pair.publicJwk) : undefined;

  const request = async (text: string, { facts = FACTS, by = control, jti = text } = {}) => {
    const body = Buffer.from(text);
    const { token } = signRequest(facts, {
      operation: 'listContracts',
      subject: 'member',
      body,
      jti,
      signer: signerOf(by),
      clock,
    });
    return { token, body };
  };
  const accept = (
    given: { readonly token: string; readonly body: Uint8Array },
    { facts = FACTS, skewMs = 0 }: { facts?: RequestFacts; skewMs?: number } = {},
  ) => verifyRequest(given, facts, { keyOf: keyOf(control), clock: { now: () => clock.now() + skewMs }, seen });

  const reply = async (text: string, { facts = FACTS, jti = 'a', by = agent } = {}) => {
    const body = Buffer.from(text);
    return { token: signReply(facts, { jti, body, signer: signerOf(by), clock }), body, jti: 'a' };
  };
  const acceptReply = (given: { token: string; body: Uint8Array; jti: string }, facts = FACTS, skewMs = 0) =>
    verifyReply(given, facts, { keyOf: keyOf(agent), clock: { now: () => clock.now() + skewMs } });

  it('carries a request with its operation, its subject and its id', async () => {
    expect(await accept(await request('one'))).to.include({ op: 'listContracts', sub: 'member', jti: 'one' });
  });

  it('refuses a request of which one bit of the body was changed, and an empty one', async () => {
    const { token, body } = await request('one');
    for (const changed of [flipped(body), flipped(body, 2), Buffer.alloc(0), Buffer.concat([body, Buffer.from(' ')])])
      expect(await refusalOf(accept({ token, body: changed }))).to.equal('body');
    // The real one is accepted afterwards.
    expect(await refusalOf(accept({ token, body }))).to.equal('accepted');
  });

  it('refuses two requests whose bodies were swapped', async () => {
    const [one, two] = [await request('one'), await request('two')];
    expect(await refusalOf(accept({ token: one.token, body: two.body }))).to.equal('body');
    expect(await refusalOf(accept({ token: two.token, body: one.body }))).to.equal('body');
  });

  it('refuses a request that is sent again: within its time, after it, and after a restart', async () => {
    const one = await request('one');
    expect(await refusalOf(accept(one))).to.equal('accepted');
    expect(await refusalOf(accept(one))).to.equal('replayed');
    const restarted = { ...FACTS, session: OTHER };
    seen = createSeenTokens({ clock });
    expect(await refusalOf(accept(one, { facts: restarted }))).to.equal('session');
    clock.advance(89_000);
    expect(await refusalOf(accept(await request('one', { jti: 'first' })))).to.equal('accepted');
    clock.advance(2_000);
    expect(await refusalOf(accept(one))).to.equal('clock_skew');
  });

  it('refuses a request for another organisation, another session, another agent or of another control plane', async () => {
    const rows: readonly [Partial<RequestFacts>, string][] = [
      [{ tenantId: OTHER }, 'tenant'],
      [{ session: OTHER }, 'session'],
      [{ connectionId: OTHER }, 'claims'],
      [{ controlPlane: 'https://test.example' }, 'claims'],
    ];
    for (const [changed, reason] of rows)
      expect(await refusalOf(accept(await request('one', { facts: { ...FACTS, ...changed } }))), reason).to.equal(
        reason,
      );
  });

  it('refuses a request that is signed with another key, also with that of the agent', async () => {
    expect(await refusalOf(accept(await request('one', { by: agent })))).to.equal('unknown_key');
    expect(await refusalOf(accept(await request('one', { by: { ...agent, kid: control.kid } })))).to.equal('signature');
  });

  it('refuses a reply in the place of a request, and a request in the place of a reply', async () => {
    const { token, body } = await reply('one', { by: control });
    expect(await refusalOf(accept({ token, body }))).to.equal('claims');
    const asked = await request('one', { by: agent });
    expect(await refusalOf(acceptReply({ ...asked, jti: 'one' }))).to.equal('claims');
  });

  it('accepts only the reply to its request, of its session, with its body, by its agent', async () => {
    expect(await refusalOf(acceptReply(await reply('out')))).to.equal('accepted');
    expect(await refusalOf(acceptReply(await reply('out', { jti: 'b' })))).to.equal('replayed');
    const good = await reply('out');
    expect(await refusalOf(acceptReply({ ...good, body: flipped(good.body) }))).to.equal('body');
    expect(await refusalOf(acceptReply(good, { ...FACTS, session: OTHER }))).to.equal('session');
    expect(await refusalOf(acceptReply(good, { ...FACTS, connectionId: OTHER }))).to.equal('claims');
    expect(await refusalOf(acceptReply(await reply('out', { by: control })))).to.equal('unknown_key');
  });

  it('tolerates clocks that differ by 59 seconds, not by five minutes, in either direction', async () => {
    for (const [skewMs, outcome] of [
      [-300_000, 'clock_skew'],
      [-59_000, 'accepted'],
      [59_000, 'accepted'],
      [300_000, 'clock_skew'],
    ] as const) {
      expect(await refusalOf(accept(await request('one', { jti: String(skewMs) }), { skewMs }))).to.equal(outcome);
      expect(await refusalOf(acceptReply(await reply('out'), FACTS, skewMs))).to.equal(outcome);
    }
  });
});
