import { encodeFrame, MalformedFrame, windowOf } from './frames.js';
import { LINK } from './limits.js';
import type { MessageSocket } from './session.js';

/** A request or response to send. */
export interface Outgoing {
  readonly stream: number;
  readonly type: 'request' | 'response';
  readonly head: Uint8Array;
  readonly body: Uint8Array;
  /** Called before the first frame is handed to the socket. */
  begun?(): void;
  /** Called before the last frame is. */
  done?(): void;
}

/**
 * Writes frames to the socket: messages in turns of one frame each, so that a large body delays no small one, and only
 * what the receiver granted. While the socket has too much to write nothing is handed to it. What waits then is bounded
 * whatever the other side sends: of repeated pongs, windows and notices only the latest state is kept.
 */
export interface Writer {
  send(message: Outgoing): void;
  /** Sends no more of a message. Returns whether a part of it was sent. */
  drop(stream: number): boolean;
  /** The other side grants more bytes. Throws MalformedFrame. */
  granted(stream: number, bytes: number): void;
  /** Grants the other side more bytes. */
  grant(stream: number, bytes: number): void;
  cancel(stream: number): void;
  /** `done` is called before the frame is handed to the socket. */
  end(stream: number, done: () => void): void;
  ping(number: number, report: Uint8Array): void;
  pong(number: number): void;
  goAway(payload: Uint8Array): void;
  /** While a notice waits, a later one of the same topic replaces it. */
  notice(topic: string, payload: Uint8Array): void;
  /** Hands nothing more to the socket. */
  stop(): void;
}

export function createWriter(socket: MessageSocket): Writer {
  const control = createControl();
  const bodies = createPieces();
  let isBusy = false;
  let isStopped = false;

  const flush = (): void => {
    // What is called while a frame is made may send as well.
    if (isBusy) return;
    isBusy = true;
    socket.together(() => {
      while (!isStopped && socket.bufferedAmount <= LINK.bufferedBytes) {
        const frame = control.next() ?? bodies.next();
        if (!frame) break;
        socket.send(frame, flush);
      }
    });
    isBusy = false;
  };
  /** Sends as soon as possible what the function adds. */
  const then =
    <A extends unknown[]>(add: (...given: A) => void) =>
    (...given: A): void => {
      add(...given);
      flush();
    };

  return {
    send: then(bodies.add),
    drop: bodies.drop,
    granted: then(bodies.granted),
    grant: then((stream, bytes) => control.windows.set(stream, (control.windows.get(stream) ?? 0) + bytes)),
    cancel: then((stream) => control.cancels.add(stream)),
    end: then((stream, done) => control.ends.set(stream, done)),
    ping: then((stream, payload) => control.singles.set('ping', encodeFrame({ type: 'ping', stream, payload }))),
    pong: then((stream) => control.singles.set('pong', encodeFrame({ type: 'pong', stream }))),
    goAway: then((payload) => control.singles.set('goAway', encodeFrame({ type: 'goAway', stream: 0, payload }))),
    notice: then((topic, payload) =>
      control.singles.set(`notice ${topic}`, encodeFrame({ type: 'notice', stream: 0, payload })),
    ),
    stop: () => {
      isStopped = true;
    },
  };
}

/** Frames that are not subject to credit. */
function createControl() {
  const singles = new Map<string, Uint8Array>();
  const windows = new Map<number, number>();
  const cancels = new Set<number>();
  const ends = new Map<number, () => void>();
  return {
    singles,
    windows,
    cancels,
    ends,
    next: (): Uint8Array | undefined => {
      for (const [key, frame] of singles) {
        singles.delete(key);
        return frame;
      }
      for (const [stream, bytes] of windows) {
        windows.delete(stream);
        return encodeFrame({ type: 'window', stream, payload: windowOf(bytes) });
      }
      for (const stream of cancels) {
        cancels.delete(stream);
        return encodeFrame({ type: 'cancel', stream });
      }
      for (const [stream, done] of ends) {
        ends.delete(stream);
        done();
        return encodeFrame({ type: 'end', stream });
      }
      return undefined;
    },
  };
}

interface Piecewise {
  readonly message: Outgoing;
  state: 'new' | 'ready' | 'waiting' | 'dropped';
  /** Bytes of the body that were sent. */
  sent: number;
  credit: number;
}

/** More credit than this makes no sense and would overflow in the end. */
const MAX_CREDIT = 0x7f_ff_ff_ff;

/** Messages in pieces of one frame. */
function createPieces() {
  const sending = new Map<number, Piecewise>();
  /** Those that can send, in their order. */
  let ready: Piecewise[] = [];
  /** Those that could send if the connection had credit. */
  let starved: Piecewise[] = [];
  let connectionCredit: number = LINK.connectionCredit;

  const ended = ({ message }: Piecewise): void => {
    sending.delete(message.stream);
    message.done?.();
  };

  const head = (piecewise: Piecewise): Uint8Array => {
    const { stream, type, head: payload, body, begun } = piecewise.message;
    const last = body.length === 0;
    piecewise.state = 'ready';
    begun?.();
    // The first piece of the body follows at once: most bodies have no second one.
    if (last) ended(piecewise);
    else ready.unshift(piecewise);
    return encodeFrame({ type, stream, last, payload });
  };

  const piece = (piecewise: Piecewise, size: number): Uint8Array => {
    const { stream, body } = piecewise.message;
    const from = piecewise.sent;
    piecewise.sent += size;
    piecewise.credit -= size;
    connectionCredit -= size;
    const last = piecewise.sent === body.length;
    if (last) ended(piecewise);
    else ready.push(piecewise);
    return encodeFrame({ type: 'data', stream, last, payload: body.subarray(from, piecewise.sent) });
  };

  return {
    add: (message: Outgoing): void => {
      const piecewise: Piecewise = { message, state: 'new', sent: 0, credit: LINK.streamCredit };
      sending.set(message.stream, piecewise);
      ready.push(piecewise);
    },
    drop: (stream: number): boolean => {
      const piecewise = sending.get(stream);
      if (!piecewise) return true;
      const wasBegun = piecewise.state !== 'new';
      piecewise.state = 'dropped';
      sending.delete(stream);
      return wasBegun;
    },
    granted: (stream: number, bytes: number): void => {
      const piecewise = sending.get(stream);
      const credit = (stream === 0 ? connectionCredit : (piecewise?.credit ?? 0)) + bytes;
      if (credit > MAX_CREDIT) throw new MalformedFrame('more credit is granted than there can be');
      if (stream === 0) {
        connectionCredit = credit;
        ready = [...ready, ...starved];
        starved = [];
      } else if (piecewise) {
        piecewise.credit = credit;
        if (piecewise.state === 'waiting') ready.push(piecewise);
        if (piecewise.state === 'waiting') piecewise.state = 'ready';
      }
    },
    next: (): Uint8Array | undefined => {
      for (let piecewise = ready.shift(); piecewise; piecewise = ready.shift()) {
        if (piecewise.state === 'dropped') continue;
        if (piecewise.state === 'new') return head(piecewise);
        const left = piecewise.message.body.length - piecewise.sent;
        const size = Math.min(LINK.frameBytes, left, piecewise.credit, connectionCredit);
        if (size > 0) return piece(piecewise, size);
        if (connectionCredit === 0) starved.push(piecewise);
        else piecewise.state = 'waiting';
      }
      return undefined;
    },
  };
}
