import { CallEnded } from '../deadline.js';
import type { IncomingBody } from './bodies.js';
import { jsonOf, MalformedFrame, objectIn, type Frame } from './frames.js';
import { LINK } from './limits.js';
import type { LinkHandlers, LinkMessage } from './session.js';
import type { Writer } from './writer.js';

/** The requests of the other side. */
export interface Serving {
  /** Those whose response was not sent completely. */
  readonly size: number;
  received(frame: Frame): void;
  /** Whether a stream of this number was begun. */
  knows(stream: number): boolean;
  /** The connection is lost: the handlers' signals fire. */
  lose(): void;
}

interface Served {
  readonly head: LinkMessage['head'];
  readonly body: IncomingBody;
  readonly ends: AbortController;
  state: 'arriving' | 'running' | 'answering' | 'ending';
}

export function createServing({
  onRequest,
  writer,
  begin,
  onEnded,
  onFault,
}: {
  readonly onRequest: LinkHandlers['onRequest'];
  readonly writer: Writer;
  readonly begin: (stream: number) => IncomingBody;
  /** Called when a stream has ended. */
  readonly onEnded: () => void;
  /** A handler failed: the other side gets no response. */
  readonly onFault: (error: unknown) => void;
}): Serving {
  const served = new Map<number, Served>();
  let highest = 0;

  const ended = (stream: number): void => {
    served.get(stream)?.body.release();
    served.delete(stream);
    onEnded();
  };
  const endUnanswered = (stream: number, mine: Served): void => {
    mine.state = 'ending';
    mine.body.release();
    writer.end(stream, () => ended(stream));
  };

  const run = async (stream: number, mine: Served): Promise<void> => {
    mine.state = 'running';
    const answer = await answered(mine).catch((error: unknown) => {
      if (!mine.ends.signal.aborted) onFault(error);
    });
    if (served.get(stream) !== mine) return;
    if (!answer || mine.ends.signal.aborted) return endUnanswered(stream, mine);
    mine.state = 'answering';
    mine.body.release();
    writer.send({ stream, type: 'response', ...answer, done: () => ended(stream) });
  };

  const answered = async ({ head, body, ends: { signal } }: Served): Promise<{ head: Buffer; body: Uint8Array }> => {
    const reply = await onRequest({ head, body: body.whole() }, { signal });
    const bytes = jsonOf(reply.head);
    if (bytes.length > LINK.headBytes || reply.body.length > LINK.bodyBytes)
      throw new RangeError(`a response has ${bytes.length} and ${reply.body.length} bytes, more than the link sends`);
    return { head: bytes, body: reply.body };
  };

  const cancel = (stream: number): void => {
    const mine = served.get(stream);
    // The response and the cancellation may have crossed.
    if (!mine || mine.state === 'ending' || mine.ends.signal.aborted) return;
    mine.ends.abort(new CallEnded('disconnected'));
    // A running handler keeps its place until it has stopped.
    if (mine.state === 'running') return;
    writer.drop(stream);
    endUnanswered(stream, mine);
  };

  return {
    get size() {
      return served.size;
    },
    knows: (stream) => stream <= highest,
    received: ({ type, stream, payload, last }) => {
      if (type === 'cancel') return cancel(stream);
      if (type === 'request') {
        if (stream <= highest) throw new MalformedFrame('a stream is used again');
        if (served.size >= LINK.inFlight) throw new MalformedFrame('there are more streams than allowed');
        highest = stream;
        const head = objectIn({ type, payload });
        served.set(stream, { head, body: begin(stream), ends: new AbortController(), state: 'arriving' });
      }
      const mine = served.get(stream);
      if (mine?.state !== 'arriving')
        throw new MalformedFrame(`a frame of type ${type} is for a stream that has ended`);
      if (type === 'data') mine.body.add(payload, last);
      if (last) void run(stream, mine);
      return undefined;
    },
    lose: () => {
      const all = [...served.values()];
      served.clear();
      for (const { ends, body } of all) {
        body.release();
        ends.abort(new CallEnded('disconnected'));
      }
    },
  };
}
