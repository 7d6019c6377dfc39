import type { Clock } from '../clock.js';
import type { Log } from '../log.js';
import { createBodies } from './bodies.js';
import { decodeFrame, grantIn, jsonOf, MalformedFrame, objectIn, type Frame } from './frames.js';
import { createHeartbeat } from './heartbeat.js';
import { CLOSED, LINK } from './limits.js';
import { createRequesting } from './requesting.js';
import { createServing } from './serving.js';
import type { LinkClosed, LinkHandlers, LinkSession, MessageSocket } from './session.js';
import { systemTimers, type Timers } from './timers.js';
import { createWriter } from './writer.js';

/** How long the other side may take for the closing handshake. */
const CLOSE_MS = 2_000;

/**
 * A session over a socket that has just opened. `side` is `client` for the one that opened the connection. It never
 * throws because of what the other side sends: anything malformed closes the connection and is logged once.
 */
export function createLinkSession({
  socket,
  side,
  handlers,
  clock,
  log,
  timers = systemTimers,
}: {
  readonly socket: MessageSocket;
  readonly side: 'client' | 'server';
  readonly handlers: LinkHandlers;
  readonly clock: Clock;
  readonly log?: Log;
  readonly timers?: Timers;
}): LinkSession {
  let state: LinkSession['state'] = 'open';
  let heardAt = clock.now();
  let onIdle = (): void => undefined;
  let drained: Promise<void> | undefined;
  const closed = Promise.withResolvers<LinkClosed>();

  const writer = createWriter(socket);
  const bodies = createBodies(writer.grant);
  const onEnded = (): void => onIdle();
  const requesting = createRequesting({
    isOdd: side === 'client',
    writer,
    begin: bodies.begin,
    timers,
    onEnded,
    onUsedUp: () => {
      requesting.refuse('the connection has sent all requests that it can');
      void goAway({ reconnectAfterMs: 0, timeoutMs: LINK.drainMs }).then(() => close(1001, 'all streams are used'));
    },
  });
  const serving = createServing({
    onRequest: (message, options) => handlers.onRequest(message, options),
    writer,
    begin: bodies.begin,
    onEnded,
    onFault: (err) => log?.error({ err }, 'a request of the link was not answered'),
  });
  const report = (): Readonly<Record<string, unknown>> => {
    try {
      return handlers.report?.() ?? {};
    } catch (error) {
      log?.error({ err: error }, 'the report of the heartbeat failed');
      return {};
    }
  };
  const heartbeat = createHeartbeat({
    writer,
    timers,
    report,
    onSilence: () => close(CLOSED.silent, 'nothing was received'),
  });

  /** Ends everything on this side; the socket closes by itself or is closed by the caller. */
  const end = (code: number, reason: string): void => {
    if (state === 'closed') return;
    state = 'closed';
    writer.stop();
    heartbeat.stop();
    requesting.lose(`the connection was closed (${code}${reason === '' ? '' : `, ${reason}`})`);
    serving.lose();
    onIdle();
    closed.resolve({ code, reason });
  };

  const close = (code: number, reason: string): void => {
    if (state === 'closed') return;
    end(code, reason);
    socket.close(code, reason.slice(0, MAX_REASON));
    const cancel = timers.after(CLOSE_MS, () => socket.terminate());
    socket.onClose(cancel);
  };

  const goAway: LinkSession['goAway'] = ({ reconnectAfterMs, timeoutMs }) => {
    if (state === 'closed') return Promise.resolve();
    drained ??= new Promise((resolve) => {
      state = 'draining';
      const cancel = timers.after(timeoutMs, resolve);
      writer.goAway(jsonOf({ reconnectAfterMs }));
      // Requests that the other side sent before it was informed arrive before the answer to the ping.
      let isInformed = false;
      onIdle = () => {
        if (state !== 'closed' && (!isInformed || requesting.size > 0 || serving.size > 0)) return;
        cancel();
        resolve();
      };
      void heartbeat.ping(timeoutMs).then(() => {
        isInformed = true;
        onIdle();
      });
    });
    return drained;
  };

  const toldToGoAway = (frame: Frame): void => {
    const { reconnectAfterMs } = objectIn(frame);
    if (typeof reconnectAfterMs !== 'number' || !(reconnectAfterMs >= 0 && reconnectAfterMs <= MAX_DELAY_MS))
      throw new MalformedFrame('a frame of type goAway has no delay');
    state = 'draining';
    requesting.refuse('the other side is closing the connection');
    handlers.onGoAway({ reconnectAfterMs });
  };

  const isMine = (stream: number): boolean => stream % 2 === (side === 'client' ? 1 : 0);

  const received = (frame: Frame): void => {
    const { type, stream, payload } = frame;
    switch (type) {
      case 'request':
      case 'cancel':
      case 'response':
      case 'end':
      case 'data': {
        const owner = isMine(stream) ? requesting : serving;
        if (type !== 'data' && isMine(stream) === (type === 'request' || type === 'cancel'))
          throw new MalformedFrame(`a frame of type ${type} is for a stream of the other side`);
        if (type !== 'request' && !owner.knows(stream)) throw new MalformedFrame('a stream was never begun');
        return owner.received(frame);
      }
      case 'window':
        if (stream !== 0 && !(isMine(stream) ? requesting : serving).knows(stream))
          throw new MalformedFrame('a stream was never begun');
        return writer.granted(stream, grantIn(payload));
      case 'ping': {
        const report = objectIn(frame);
        writer.pong(stream);
        return handlers.onReport?.(report);
      }
      case 'pong':
        return heartbeat.answered(stream);
      case 'goAway':
        return toldToGoAway(frame);
      case 'notice': {
        const { topic, value } = objectIn(frame);
        if (typeof topic !== 'string') throw new MalformedFrame('a frame of type notice has no topic');
        return handlers.onNotice(topic, value);
      }
    }
  };

  socket.onMessage((data) => {
    if (state === 'closed') return;
    heardAt = clock.now();
    heartbeat.heard();
    try {
      received(decodeFrame(data));
    } catch (error) {
      if (error instanceof MalformedFrame) {
        log?.warn({ reason: error.message }, 'the link was closed: the other side sent a malformed message');
        close(CLOSED.malformed, error.message);
      } else log?.error({ err: error }, 'a message of the link was not processed');
    }
  });
  socket.onClose(end);

  return {
    get state() {
      return state;
    },
    get latencyMs() {
      return heartbeat.latencyMs;
    },
    get heardAt() {
      return heardAt;
    },
    get inFlight() {
      return requesting.size;
    },
    request: requesting.request,
    notice: (topic, value) => {
      const payload = jsonOf({ topic, value });
      if (payload.length > LINK.frameBytes) throw new RangeError(`the notice ${topic} is too large`);
      if (state !== 'closed') writer.notice(topic, payload);
    },
    ping: (timeoutMs) => (state === 'closed' ? Promise.resolve(false) : heartbeat.ping(timeoutMs)),
    goAway,
    close,
    closed: closed.promise,
  };
}

/** Of the reason that a WebSocket is closed with, 123 bytes are sent. */
const MAX_REASON = 120;
/** The longest delay that is respected before a new connection. */
const MAX_DELAY_MS = 10 * 60_000;
