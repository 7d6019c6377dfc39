import { LINK } from '../../base/link/limits.js';
import type { LinkSession } from '../../base/link/session.js';
import { systemTimers } from '../../base/link/timers.js';
import { createSeenTokens } from '../../base/link/tokens.js';
import { createConnectionState, endedBy, NotConnected, type ConnectionState } from './connection-state.js';
import { openSession, type OpenSession, type OutboundOptions } from './open-session.js';
import { createBackoff, HEALTHY_MS, REFUSED_MS, SHORTEST_MS } from './reconnect.js';

/** The link of an agent that connects to its control plane. */
export interface OutboundLink {
  readonly state: 'connected' | 'disconnected';
  /** The same in detail. */
  readonly connection: ConnectionState;
  /** Open sessions. */
  readonly sessions: number;
  /** Sends a notice over one of the sessions. Without a session it is dropped: the next hello reports the state. */
  notice(topic: string, value: unknown): void;
  /** Announces the end, completes what runs, and closes. */
  stop(): Promise<void>;
}

/**
 * Keeps as many sessions as the control plane asks for, until `stop`. They are opened one after the other, because each
 * has a number of its own that the control plane compares.
 */
export function connectOutbound(given: OutboundOptions): OutboundLink {
  const options = { ...given, timers: given.timers ?? systemTimers };
  const { timers, log, identity, random = Math.random } = options;
  const connection = createConnectionState({ controlPlane: identity.controlPlane, log });
  const seen = createSeenTokens({ clock: options.clock });
  const stopping = new AbortController();
  const { signal } = stopping;
  const sessions = new Set<LinkSession>();
  const retiring = new Set<Promise<void>>();
  const keeping = new Map<number, Promise<void>>();
  let wanted = 1;
  let opening: Promise<unknown> = Promise.resolve();

  /** One attempt at a time. */
  const open = (): Promise<OpenSession> => {
    const attempt = opening.then(() => openSession(options, { seen, signal }));
    opening = attempt.catch(() => undefined);
    return attempt;
  };

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        cancel();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const cancel = timers.after(ms, done);
      signal.addEventListener('abort', done, { once: true });
      if (signal.aborted) done();
    });

  const retire = (session: LinkSession, reason: string): void => {
    const retired = session
      .goAway({ reconnectAfterMs: 0, timeoutMs: LINK.drainMs })
      .then(() => session.close(signal.aborted ? 1001 : 1000, reason));
    retiring.add(retired);
    void retired.finally(() => retiring.delete(retired));
  };

  const opened = ({ session, welcome }: OpenSession): void => {
    sessions.add(session);
    void session.closed.then((end) => {
      sessions.delete(session);
      if (sessions.size === 0 && !signal.aborted) connection.notConnected(endedBy(end));
    });
    wanted = welcome.connections;
    const { sid, protocol, version, connections } = welcome;
    connection.connected({ sid, protocol, version, connections });
    for (let place = 1; place < wanted; place++) if (!keeping.has(place)) keep(place);
  };

  /** Resolves when the session needs to be replaced: to the error if it has ended. */
  const ending = ({ session, goingAway }: OpenSession): Promise<NotConnected | { readonly reconnectAfterMs: number }> =>
    Promise.race([session.closed.then(endedBy), goingAway]);

  const run = async (place: number): Promise<void> => {
    const backoff = createBackoff(random);
    let former: LinkSession | undefined;
    while (!signal.aborted && place < wanted) {
      let delay: number;
      try {
        const current = await open();
        opened(current);
        // The new connection first, then the end of the former one.
        if (former) retire(former, 'replaced');
        former = undefined;
        const end = await ending(current);
        const wasHealthy = timers.elapsed() - current.openedAt >= HEALTHY_MS;
        if (wasHealthy) backoff.reset();
        if (end instanceof NotConnected) throw end;
        former = current.session;
        // Replicas that stop one after the other ask soon after each other, and wait only seconds for their agents.
        delay = wasHealthy ? end.reconnectAfterMs : Math.max(end.reconnectAfterMs, SHORTEST_MS);
      } catch (error) {
        if (signal.aborted) return;
        delay = delayAfter(failed(error), backoff.next());
      }
      await pause(delay);
    }
    if (former) retire(former, 'not needed any more');
  };

  const failed = (error: unknown): NotConnected => {
    const why =
      error instanceof NotConnected
        ? error
        : new NotConnected('unreachable', `the connection was not opened: ${String(error)}`, { cause: error });
    // With another session the agent is still connected.
    if (sessions.size === 0) connection.notConnected(why);
    else log.debug({ reason: why.message }, 'one of several connections to the control plane failed');
    return why;
  };

  const keep = (place: number): void => {
    keeping.set(
      place,
      run(place).finally(() => keeping.delete(place)),
    );
  };
  keep(0);

  return {
    get state() {
      return sessions.size > 0 ? 'connected' : 'disconnected';
    },
    get connection() {
      return connection.state;
    },
    get sessions() {
      return sessions.size;
    },
    notice: (topic, value) => {
      for (const session of sessions) {
        if (session.state !== 'open') continue;
        session.notice(topic, value);
        return;
      }
    },
    stop: async () => {
      stopping.abort(new Error('the agent stops'));
      for (const session of sessions) retire(session, 'the agent stops');
      await Promise.all([...keeping.values(), ...retiring]);
      connection.stopped();
    },
  };
}

const PERMANENT: ReadonlySet<ConnectionState> = new Set(['revoked', 'suspended', 'incompatible']);

const delayAfter = ({ state, retryAfterMs }: NotConnected, backoffMs: number): number =>
  PERMANENT.has(state) ? REFUSED_MS : Math.max(retryAfterMs, backoffMs);
