import { expect } from 'chai';
import { announce } from '../../data-plane-agent/base/link/announcement.js';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { newLinkKey, signerOf, type LinkKeyPair } from '../../data-plane-agent/base/link/keys.js';
import { CLOSED, LINK } from '../../data-plane-agent/base/link/limits.js';
import type { LinkMessage } from '../../data-plane-agent/base/link/session.js';
import { message, never } from '../base/link-support.js';
import { agentOf, controlPlane, eventually, factsOf, settled, type Agent, type ControlPlane } from './link-support.js';

/** The first pauses of an agent whose random numbers are all 0.5. */
const [FIRST, SECOND, THIRD] = [8_500, 16_500, 30_500] as const;
const REFUSED = 300_000;

const messagesOf = ({ lines }: Agent): unknown[] => lines.map(({ msg }) => msg);

describe('the outbound link of an agent', () => {
  let key: LinkKeyPair;
  let plane: ControlPlane;
  const agents: Agent[] = [];

  before(async () => {
    key = await newLinkKey();
  });
  beforeEach(async () => {
    plane = await controlPlane(key);
  });
  afterEach(async () => {
    for (const { link, timers } of agents.splice(0)) {
      const stopped = link.stop();
      timers.advance(LINK.drainMs);
      await stopped;
    }
    await plane.close();
  });

  const start = async (options: Partial<Parameters<typeof agentOf>[1]> = {}): Promise<Agent> => {
    const agent = await agentOf(plane, { key, ...options });
    agents.push(agent);
    return agent;
  };
  const ready = (count = 1): Promise<void> =>
    eventually(() => plane.seen.filter(({ isReady }) => isReady).length >= count, `${count} sessions`);
  const connected = async (options: Parameters<typeof start>[0] = {}): Promise<Agent> => {
    const agent = await start(options);
    await ready();
    return agent;
  };

  describe('connects', () => {
    it('with its number, confirms the welcome, and then answers requests of the session', async () => {
      const agent = await connected();
      const [seen] = plane.seen;
      expect(seen?.hello.sequence).to.equal(1);
      expect(agent.identity.confirmed).to.deep.equal([1]);
      const reply = await seen?.session.request(message({ op: 'x' }, 'body'), never());
      expect([reply?.head, Buffer.from(reply?.body ?? []).toString()]).to.deep.equal([{ sid: seen?.sid }, 'body']);
      expect([agent.link.state, agent.link.connection, agent.link.sessions]).to.deep.equal([
        'connected',
        'connected',
        1,
      ]);
      agent.link.notice('outbox', null);
      await eventually(() => plane.notices.length > 0);
      expect(plane.notices).to.deep.equal([['outbox', null]]);
      agent.timers.advance(LINK.heartbeatMs);
      await eventually(() => plane.reports.length > 0);
      expect(plane.reports).to.deep.equal([{ components: [], outboxDue: false }]);
      expect(agent.lines).to.have.length(1);
      expect(agent.lines[0]).to.include({ msg: 'connected to the control plane', sid: seen?.sid, protocol: 1 });
    });

    it('and lets requests wait until the welcome was processed', async () => {
      const welcomed = Promise.withResolvers<void>();
      const asked: string[] = [];
      await start({
        onWelcome: () => welcomed.promise,
        answer: (given, { sid }) => {
          asked.push(sid);
          return Promise.resolve(given);
        },
      });
      await eventually(() => plane.seen.length > 0);
      const [seen] = plane.seen;
      const reply = seen?.session.request(message({}), never());
      await seen?.session.ping(5_000);
      expect([asked, seen?.isReady]).to.deep.equal([[], false]);
      welcomed.resolve();
      await reply;
      expect(asked).to.deep.equal([seen?.sid]);
    });

    it('twice where the control plane asks for it, one after the other with numbers of their own', async () => {
      plane.welcome = { connections: 2 };
      const agent = await connected();
      await ready(2);
      expect(plane.seen.map(({ hello }) => hello.sequence)).to.deep.equal([1, 2]);
      expect(agent.identity.confirmed).to.deep.equal([1, 2]);
      expect(agent.link.sessions).to.equal(2);
      agent.link.notice('outbox', null);
      await Promise.all(plane.seen.map(({ session }) => session.ping(5_000)));
      expect(plane.notices).to.have.length(1);
      // While the other one is there, the loss of one changes nothing; it is replaced.
      plane.seen[0]?.session.close(1001, 'restart');
      await agent.reconnectsAfter(FIRST);
      await ready(3);
      expect([agent.link.state, messagesOf(agent)]).to.deep.equal(['connected', ['connected to the control plane']]);
    });

    it('and keeps one connection again once the control plane asks for one', async () => {
      plane.welcome = { connections: 2 };
      const agent = await connected();
      await ready(2);
      plane.welcome = { connections: 1 };
      plane.seen[0]?.session.close(1001, 'restart');
      await agent.reconnectsAfter(FIRST);
      await ready(3);
      plane.seen[1]?.session.close(1001, 'restart');
      await eventually(() => agent.link.sessions === 1);
      await settled();
      agent.timers.advance(40_000);
      await settled();
      expect(plane.attempts).to.equal(3);
    });
  });

  describe('accepts new keys of the control plane', () => {
    it('in a welcome that is signed with one it knows', async () => {
      const next = await newLinkKey();
      plane.welcome = { keys: [plane.key.publicJwk, next.publicJwk] };
      const agent = await connected();
      expect(agent.identity.pinned()).to.deep.equal([plane.key.publicJwk, next.publicJwk]);
    });

    for (const [what, signer] of [
      ['is not signed', () => Promise.resolve(undefined)],
      ['is signed with another key', newLinkKey],
    ] as const)
      it(`and refuses a welcome that ${what}`, async () => {
        plane.signsWith = await signer();
        plane.welcome = { keys: [(await newLinkKey()).publicJwk] };
        const agent = await start();
        await eventually(() => agent.lines.length > 0);
        expect(agent.lines[0]).to.include({ msg: 'the control plane does not accept this agent' });
        expect((await plane.seen[0]?.session.closed)?.code).to.equal(CLOSED.unauthorized);
        expect([agent.identity.pinned(), agent.identity.confirmed]).to.deep.equal([[plane.key.publicJwk], []]);
      });

    it('in a signed notice only', async () => {
      const agent = await connected();
      const [seen] = plane.seen;
      const keys = [(await newLinkKey()).publicJwk];
      const by = async (pair: LinkKeyPair, topic = 'keys', value: unknown = keys) =>
        announce(factsOf(plane, seen?.sid ?? ''), {
          topic,
          value,
          signer: signerOf(pair),
          clock: systemClock,
        });
      const good = await by(plane.key);
      seen?.session.notice('keys', keys);
      await seen?.session.ping(5_000);
      for (const value of [await by(await newLinkKey()), await by(plane.key, 'tenant'), good, good]) {
        seen?.session.notice('keys', value);
        await seen?.session.ping(5_000);
      }
      seen?.session.notice('tenant', { active: true });
      seen?.session.notice('tenant', await by(plane.key, 'tenant', { active: false }));
      await eventually(() => agent.notices.length === 2);
      expect(agent.notices).to.deep.equal([
        ['keys', keys],
        ['tenant', { active: false }],
      ]);
      expect(messagesOf(agent).slice(1)).to.deep.equal(
        Array.from({ length: 5 }, () => 'a notice of the control plane was not accepted'),
      );
    });
  });

  describe('connects again', () => {
    it('after a random delay whose limit doubles, and begins anew only after a minute of health', async () => {
      const agent = await connected();
      for (const delay of [FIRST, SECOND, THIRD, THIRD]) {
        plane.seen.at(-1)?.session.close(1001, 'restart');
        await agent.reconnectsAfter(delay);
        await ready(plane.attempts);
        agent.timers.advance(59_000 % LINK.heartbeatMs);
      }
      for (let minute = 0; minute < 60_000; minute += LINK.heartbeatMs) {
        agent.timers.advance(LINK.heartbeatMs);
        await plane.seen.at(-1)?.session.ping(5_000);
      }
      plane.seen.at(-1)?.session.close(1001, 'restart');
      await agent.reconnectsAfter(FIRST);
    });

    it('never within a second, even if the other side accepts and closes at once', async () => {
      plane.insteadOfWelcome = 1011;
      const agent = await start({ random: () => 0 });
      await eventually(() => plane.attempts === 1);
      for (let attempt = 0; attempt < 20; attempt++) await agent.reconnectsAfter(1_000);
      expect(messagesOf(agent)).to.deep.equal(['the connection to the control plane was lost']);
    });

    it('never within a second either if each connection is asked to go away', async () => {
      const agent = await connected({ random: () => 0 });
      for (let attempt = 0; attempt < 5; attempt++) {
        void plane.seen.at(-1)?.session.goAway({ reconnectAfterMs: 0, timeoutMs: 1_000 });
        await agent.reconnectsAfter(1_000);
        await ready(plane.attempts);
      }
    });

    it('before it ends a connection that is asked to go away, whose requests are answered', async () => {
      const answers: (() => void)[] = [];
      const agent = await connected({
        answer: (asked) => new Promise((resolve) => answers.push(() => resolve(asked))),
      });
      for (let minute = 0; minute < 60_000; minute += LINK.heartbeatMs) {
        agent.timers.advance(LINK.heartbeatMs);
        await plane.seen[0]?.session.ping(5_000);
      }
      const [former] = plane.seen;
      const running = former?.session.request(message({ op: 'slow' }), never());
      await eventually(() => answers.length === 1);
      void former?.session.goAway({ reconnectAfterMs: 250, timeoutMs: 60_000 });
      await agent.reconnectsAfter(250);
      await ready(2);
      expect([former?.session.state, agent.link.sessions]).to.deep.equal(['draining', 2]);
      answers[0]?.();
      expect((await running)?.head).to.deep.equal({ op: 'slow' });
      expect(await former?.session.closed).to.deep.equal({ code: 1000, reason: 'replaced' });
      expect([agent.link.sessions, messagesOf(agent)]).to.deep.equal([1, ['connected to the control plane']]);
    });

    it('not before the time that the control plane names when it is busy', async () => {
      plane.refusal = { status: 503, headers: { 'Retry-After': '45' } };
      const agent = await start();
      await agent.reconnectsAfter(45_000);
      expect(agent.lines[0]).to.include({ msg: 'the control plane cannot be reached', reason: 'HTTP 503' });
    });

    it('after it was silent for 45 seconds', async () => {
      const agent = await connected();
      // Nothing the control plane sends arrives any more.
      agent.timers.advance(LINK.deadMs);
      await agent.reconnectsAfter(FIRST);
      expect(agent.lines[1]).to.include({ reason: `close code ${CLOSED.silent}, nothing was received` });
    });
  });

  const permanent: readonly (readonly [string, Partial<ControlPlane>, string])[] = [
    [
      'whose connection was revoked',
      { refusal: { status: 403, body: { error: { code: 'CONNECTION_REVOKED', message: 'It was revoked.' } } } },
      'the connection of this agent was revoked',
    ],
    [
      'whose session is closed as revoked',
      { insteadOfWelcome: CLOSED.revoked },
      'the connection of this agent was revoked',
    ],
    [
      'whose connection is suspended',
      { refusal: { status: 403, body: { error: { code: 'CONNECTION_SUSPENDED', message: 'It was copied.' } } } },
      'the connection of this agent is suspended: its data directory was copied',
    ],
    [
      'that was copied',
      { insteadOfWelcome: CLOSED.cloned },
      'the connection of this agent is suspended: its data directory was copied',
    ],
    [
      'whose version is refused',
      { refusal: { status: 426 } },
      'this agent and the control plane have no protocol version in common',
    ],
    [
      'whose hello has no version in common',
      { insteadOfWelcome: CLOSED.incompatible },
      'this agent and the control plane have no protocol version in common',
    ],
    [
      'that is offered a version it does not have',
      { welcome: { protocol: 7 } },
      'this agent and the control plane have no protocol version in common',
    ],
  ];
  for (const [what, faults, line] of permanent)
    it(`an agent ${what} tries every five minutes, and says once what to do`, async () => {
      Object.assign(plane, faults);
      const agent = await start();
      for (let attempt = 0; attempt < 3; attempt++) await agent.reconnectsAfter(REFUSED);
      await eventually(() => agent.timers.isPending(REFUSED));
      expect(messagesOf(agent)).to.deep.equal([line]);
      expect(agent.lines[0]?.['fix']).to.be.a('string').and.not.equal('');
      expect([agent.link.state, agent.link.sessions]).to.deep.equal(['disconnected', 0]);
      Object.assign(plane, { refusal: undefined, insteadOfWelcome: undefined, welcome: {} });
      await agent.reconnectsAfter(REFUSED);
      await ready();
      expect(messagesOf(agent)).to.deep.equal([line, 'connected to the control plane']);
    });

  it('is closed when a running connection is revoked: requests are not answered any more', async () => {
    const agent = await connected();
    plane.refusal = { status: 403, body: { error: { code: 'CONNECTION_REVOKED', message: 'It was revoked.' } } };
    plane.seen[0]?.session.close(CLOSED.revoked, 'revoked');
    await eventually(() => agent.link.sessions === 0);
    expect(agent.link.connection).to.equal('revoked');
    await agent.reconnectsAfter(REFUSED);
  });

  describe('logs once', () => {
    it('that the clocks differ, in the words of the control plane', async () => {
      plane.refusal = { status: 401, body: { error: { code: 'CLOCK_SKEW', message: 'The clocks differ by 300 s.' } } };
      const agent = await start();
      for (const delay of [FIRST, SECOND, THIRD]) await agent.reconnectsAfter(delay);
      expect(agent.lines).to.have.length(1);
      expect(agent.lines[0]).to.include({
        level: 50,
        msg: 'the control plane does not accept this agent',
        reason: 'HTTP 401 CLOCK_SKEW: The clocks differ by 300 s.',
      });
      expect(agent.lines[0]?.['fix']).to.contain('compare the clocks');
    });

    it('that the control plane cannot be reached, and what it was', async () => {
      const gone = await controlPlane(key);
      await gone.close();
      const agent = await agentOf(gone, { key });
      agents.push(agent);
      for (const delay of [FIRST, SECOND, THIRD]) {
        await eventually(() => agent.timers.isPending(delay));
        agent.timers.advance(delay);
      }
      await settled();
      expect(agent.lines).to.have.length(1);
      expect(agent.lines[0]).to.include({ level: 40, msg: 'the control plane cannot be reached' });
      expect(agent.lines[0]?.['reason']).to.contain('ECONNREFUSED');
    });

    it('a refusal of a proxy as what it is: only the control plane revokes', async () => {
      plane.refusal = { status: 403, body: '<html>Forbidden</html>' };
      const agent = await start();
      await agent.reconnectsAfter(FIRST);
      expect(agent.lines[0]).to.include({
        msg: 'the control plane does not accept this agent',
        reason: 'HTTP 403',
      });
    });
  });

  it('gives up a handshake that is not answered within ten seconds', async () => {
    plane.insteadOfWelcome = 'silence';
    const agent = await start();
    await eventually(() => plane.attempts === 1 && agent.timers.pending > 1);
    await settled();
    agent.timers.advance(LINK.handshakeMs);
    await agent.reconnectsAfter(FIRST);
    expect(agent.lines[0]).to.include({ reason: 'the control plane did not answer the hello in time' });
  });

  describe('stops', () => {
    it('after what runs was answered, and sends nothing new', async () => {
      const answers: (() => void)[] = [];
      const answer = (asked: LinkMessage): Promise<LinkMessage> =>
        new Promise((resolve) => answers.push(() => resolve(asked)));
      const agent = await connected({ answer });
      const [seen] = plane.seen;
      const running = seen?.session.request(message({ op: 'slow' }), never());
      await eventually(() => answers.length === 1);
      const stopped = agent.link.stop();
      await eventually(() => seen?.session.state === 'draining');
      answers[0]?.();
      await running;
      await stopped;
      expect(await seen?.session.closed).to.deep.equal({ code: 1001, reason: 'the agent stops' });
      expect(agent.link.connection).to.equal('stopped');
      expect(messagesOf(agent)).to.deep.equal([
        'connected to the control plane',
        'the link to the control plane was closed',
      ]);
    });

    it('at once during a pause, an attempt or a handshake', async () => {
      plane.refusal = { status: 503 };
      const paused = await start();
      await eventually(() => paused.timers.isPending(FIRST));
      await paused.link.stop();
      plane.refusal = undefined;
      plane.insteadOfWelcome = 'silence';
      const greeting = await start();
      const dialling = await start();
      await dialling.link.stop();
      const before = plane.attempts;
      await eventually(() => plane.attempts > 1);
      await settled();
      await greeting.link.stop();
      await settled();
      expect(plane.attempts).to.be.within(before, before + 1);
    });
  });
});
