import { announcementIn, verifyAnnouncement } from '../../base/link/announcement.js';
import { createLinkSession } from '../../base/link/create-session.js';
import { CLOSED, LINK } from '../../base/link/limits.js';
import { TOPICS, type Welcome } from '../../base/link/messages.js';
import { LinkLost, type LinkSession } from '../../base/link/session.js';
import type { Timers } from '../../base/link/timers.js';
import { signToken, type SeenTokens } from '../../base/link/tokens.js';
import { socketOf } from '../../base/link/web-socket.js';
import { unlessAborted } from '../../base/unless-aborted.js';
import type { LinkParts } from '../link.js';
import { endedBy, NotConnected } from './connection-state.js';
import { dial } from './dial.js';
import { greet } from './greet.js';

export interface OutboundOptions extends LinkParts {
  readonly random?: () => number;
  readonly timers?: Timers;
}

/** A session that the control plane has welcomed. */
export interface OpenSession {
  readonly session: LinkSession;
  readonly welcome: Welcome;
  /** When it was opened, by the timers. */
  readonly openedAt: number;
  /** Resolves when the control plane asks for a new connection. */
  readonly goingAway: Promise<{ readonly reconnectAfterMs: number }>;
}

/** Connects, says hello and confirms the welcome. Rejects with NotConnected, or with the signal's reason. */
export async function openSession(
  options: OutboundOptions & { readonly timers: Timers },
  { seen, signal }: { readonly seen: SeenTokens; readonly signal: AbortSignal },
): Promise<OpenSession> {
  const { identity, clock, log, timers, httpAgent } = options;
  const { connectionId, controlPlane } = identity;
  const token = signToken(
    { type: 'connect', issuer: connectionId, audience: controlPlane },
    { claims: { sub: connectionId }, signer: identity.signer(), clock },
  );
  const welcomed = Promise.withResolvers<Welcome>();
  welcomed.promise.catch(() => undefined); // nobody may wait for it
  const goingAway = Promise.withResolvers<{ readonly reconnectAfterMs: number }>();
  let notices: Promise<unknown> = Promise.resolve();
  const session = await dial({ controlPlane, token, httpAgent, timers, signal }, (ws, stream) =>
    createLinkSession({
      socket: socketOf(ws, stream),
      side: 'client',
      clock,
      log,
      timers,
      handlers: {
        // Requests wait until the welcome was processed, which may have brought the key that they are signed with.
        onRequest: async (message, { signal: ends }) => {
          const { sid } = await unlessAborted(ends, welcomed.promise);
          return options.answer(message, { signal: ends, sid });
        },
        onNotice: (topic, value) => {
          // One after the other.
          notices = notices
            .then(() => welcomed.promise)
            .then(({ sid }) => notice(options, { topic, value, sid, seen }))
            .catch((error: unknown) =>
              log.warn({ err: error, topic }, 'a notice of the control plane was not accepted'),
            );
        },
        onGoAway: goingAway.resolve,
        report: options.report,
      },
    }),
  );
  const late = new AbortController();
  const cancel = timers.after(LINK.handshakeMs, () =>
    late.abort(new NotConnected('unreachable', 'the control plane did not answer the hello in time')),
  );
  const within = AbortSignal.any([late.signal, signal]);
  const greeted = async (): Promise<Welcome> => {
    const hello = { ...(await options.hello()), sequence: await identity.nextSequence() };
    const welcome = await greet(session, hello, { identity, clock, seen, signal: within });
    await identity.confirmSequence(hello.sequence);
    await options.onWelcome(welcome);
    return welcome;
  };
  try {
    const welcome = await unlessAborted(within, greeted());
    session.notice(TOPICS.ready, null);
    welcomed.resolve(welcome);
    return { session, welcome, openedAt: timers.elapsed(), goingAway: goingAway.promise };
  } catch (error) {
    welcomed.reject(error);
    const wasLost = error instanceof LinkLost && session.state === 'closed';
    session.close(signal.aborted ? 1001 : CLOSED.silent, 'the handshake was not completed');
    throw wasLost ? endedBy(await session.closed) : notConnected(error);
  } finally {
    cancel();
  }
}

const notConnected = (error: unknown): unknown =>
  error instanceof LinkLost ? new NotConnected('unreachable', error.message, { cause: error }) : error;

async function notice(
  { identity, clock, onNotice }: OutboundOptions,
  { topic, value, sid, seen }: { topic: string; value: unknown; sid: string; seen: SeenTokens },
): Promise<void> {
  const announcement = announcementIn(value);
  if (!announcement) throw new TypeError('the notice is not signed');
  const facts = { ...identity, session: sid };
  await verifyAnnouncement(announcement, facts, { topic, keyOf: identity.accepts, clock, seen });
  return onNotice(topic, JSON.parse(announcement.json));
}
