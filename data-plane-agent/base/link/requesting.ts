import type { IncomingBody } from './bodies.js';
import { jsonOf, MalformedFrame, MAX_STREAM, objectIn, type Frame } from './frames.js';
import { LINK } from './limits.js';
import { LinkLost, type LinkMessage } from './session.js';
import type { Timers } from './timers.js';
import type { Writer } from './writer.js';

/** The requests that this side sends. */
export interface Requesting {
  /** Those that were sent and whose stream has not ended. */
  readonly size: number;
  request(message: LinkMessage, options: { readonly signal: AbortSignal }): Promise<LinkMessage>;
  received(frame: Frame): void;
  /** Whether a stream of this number was begun. */
  knows(stream: number): boolean;
  /** Sends no new requests: rejects those that were not sent. */
  refuse(why: string): void;
  /** The connection is lost: rejects all. */
  lose(why: string): void;
}

export interface RequestingOptions {
  /** Whether this side uses odd numbers. */
  readonly isOdd: boolean;
  readonly writer: Writer;
  readonly begin: (stream: number) => IncomingBody;
  readonly timers: Timers;
  /** Called when a stream has ended. */
  readonly onEnded: () => void;
  /** Called once all numbers are used up. */
  readonly onUsedUp: () => void;
}

interface Wanted {
  readonly head: Uint8Array;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
  readonly resolve: (message: LinkMessage) => void;
  readonly reject: (error: unknown) => void;
}

interface Sent {
  readonly wanted: Wanted;
  readonly onAbort: () => void;
  readonly body: IncomingBody;
  /** Whether a part of the request was handed to the socket. */
  isBegun: boolean;
  /** The caller has its result: what still arrives is ignored. */
  isSettled: boolean;
  head: LinkMessage['head'] | undefined;
}

export function createRequesting(options: RequestingOptions): Requesting {
  const { writer, begin, timers } = options;
  const sent = new Map<number, Sent>();
  const queue = createQueue(timers);
  let next = options.isOdd ? 1 : 2;
  let refused: string | undefined;

  /** The stream remains in use until the other side has ended it: it counts the stream until then, too. */
  const settle = (stream: Sent, result: LinkMessage | { readonly error: unknown }): void => {
    if (stream.isSettled) return;
    stream.isSettled = true;
    stream.wanted.signal.removeEventListener('abort', stream.onAbort);
    stream.body.release();
    if ('error' in result) stream.wanted.reject(result.error);
    else stream.wanted.resolve(result);
  };

  const ended = (stream: number): void => {
    sent.delete(stream);
    if (sent.size < LINK.inFlight) queue.next()?.();
    options.onEnded();
  };

  const send = (wanted: Wanted): void => {
    if (next > MAX_STREAM) {
      wanted.reject(new LinkLost('the connection has sent all requests that it can', true, ENDED));
      options.onUsedUp();
      return;
    }
    const stream = next;
    next += 2;
    const mine: Sent = {
      wanted,
      body: begin(stream),
      isBegun: false,
      isSettled: false,
      head: undefined,
      onAbort: () => {
        settle(mine, { error: wanted.signal.reason });
        if (!writer.drop(stream)) ended(stream);
        else writer.cancel(stream);
      },
    };
    sent.set(stream, mine);
    wanted.signal.addEventListener('abort', mine.onAbort, { once: true });
    writer.send({
      stream,
      type: 'request',
      head: wanted.head,
      body: wanted.body,
      begun: () => {
        mine.isBegun = true;
      },
    });
  };

  const refuse = (why: string): void => {
    refused ??= why;
    queue.clear(new LinkLost(why, true, ENDED));
    for (const [stream, mine] of sent) {
      if (mine.isBegun || mine.isSettled) continue;
      writer.drop(stream);
      settle(mine, { error: new LinkLost(why, true, ENDED) });
      ended(stream);
    }
  };

  return {
    get size() {
      return sent.size;
    },
    knows: (stream) => stream < next,
    request: ({ head, body }, { signal }) =>
      new Promise((resolve, reject) => {
        const wanted = { head: jsonOf(head), body, signal, resolve, reject };
        const fault = refused ?? tooLarge(wanted);
        if (signal.aborted) reject(signal.reason as Error);
        else if (fault !== undefined) reject(new LinkLost(fault, true, { sessionEnded: refused !== undefined }));
        else if (sent.size < LINK.inFlight) send(wanted);
        else queue.add(wanted, () => send(wanted));
      }),
    received: ({ type, stream, payload, last }) => {
      const mine = sent.get(stream);
      if (!mine) throw new MalformedFrame(`a frame of type ${type} is for a stream that has ended`);
      if (type === 'end') {
        settle(mine, { error: new LinkLost('the other side did not answer the request', false) });
        return ended(stream);
      }
      if ((type === 'response') === (mine.head !== undefined))
        throw new MalformedFrame(`a frame of type ${type} comes at the wrong time`);
      if (type === 'response') mine.head = objectIn({ type, payload });
      else mine.body.add(payload, last);
      if (!last) return undefined;
      settle(mine, { head: mine.head ?? {}, body: mine.body.whole() });
      return ended(stream);
    },
    refuse,
    lose: (why) => {
      refused ??= why;
      queue.clear(new LinkLost(why, true, ENDED));
      for (const mine of sent.values()) settle(mine, { error: new LinkLost(why, !mine.isBegun, ENDED) });
      sent.clear();
    },
  };
}

const ENDED = { sessionEnded: true } as const;

const tooLarge = ({ head, body }: Pick<Wanted, 'head' | 'body'>): string | undefined =>
  head.length > LINK.headBytes || body.length > LINK.bodyBytes
    ? `the request has ${head.length} and ${body.length} bytes, more than the link sends`
    : undefined;

/** Requests that wait until another one has ended: not many, and not for long. */
function createQueue(timers: Timers) {
  interface Waiting {
    readonly wanted: Wanted;
    readonly go: () => void;
    readonly leave: () => void;
  }
  const waiting = new Set<Waiting>();
  const reject = (one: Waiting, error: unknown): void => {
    one.leave();
    one.wanted.reject(error);
  };
  return {
    add: (wanted: Wanted, go: () => void): void => {
      if (waiting.size >= LINK.waiting)
        return wanted.reject(new LinkLost('too many requests wait for the other side', true));
      const onAbort = (): void => reject(one, wanted.signal.reason);
      const cancel = timers.after(LINK.waitMs, () =>
        reject(one, new LinkLost('the other side is busy with other requests', true)),
      );
      const one: Waiting = {
        wanted,
        go,
        leave: () => {
          cancel();
          wanted.signal.removeEventListener('abort', onAbort);
          waiting.delete(one);
        },
      };
      wanted.signal.addEventListener('abort', onAbort, { once: true });
      waiting.add(one);
    },
    /** Takes the one that has waited longest. */
    next: (): (() => void) | undefined => {
      const one = waiting.values().next().value;
      one?.leave();
      return one?.go;
    },
    clear: (error: LinkLost): void => {
      for (const one of waiting) reject(one, error);
    },
  };
}
