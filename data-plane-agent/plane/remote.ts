import { answerChecker } from '../base/answer-check.js';
import { deadlineIn, isEnded, type Deadline } from '../base/deadline.js';
import { fail } from '../base/failures.js';
import { unlessAborted } from '../base/unless-aborted.js';
import type { Call } from './contract/call.js';
import type { Answer, DataPlane, OperationList } from './contract/data-plane.js';
import type { Declared } from './contract/operation.js';
import { PROTOCOL_VERSION, TransportError, type Transport, type WireReply } from './contract/wire.js';

/** Extra time for the reply: the other side enforces the timeout itself and reports the outcome. */
const REPLY_MS = 1_000;

/**
 * The data plane over a network. If the reply is lost, the request is sent once more, within the caller's time, but
 * only where that is safe: if nothing ran, for reads, and for writes with an idempotency key. Otherwise the failure says
 * whether nothing ran or something may have.
 */
export function createRemoteDataPlane<L extends OperationList>({
  operations,
  transport,
}: {
  readonly operations: L;
  readonly transport: Transport;
}): DataPlane<L> {
  return {
    async invoke(name, { call, signal }, input) {
      const operation = operations[name];
      if (!operation) throw new Error(`there is no operation ${name}`);
      const deadline = deadlineIn(call.timeoutMs + REPLY_MS, signal);
      try {
        const reply = await send({ transport, operation, name, call, input, deadline });
        return answerOf(reply, operation, call) as Answer<never>; // the output was checked against its declaration
      } finally {
        deadline.settle();
      }
    },
  };
}

interface Sending {
  readonly transport: Transport;
  readonly operation: Declared;
  readonly name: string;
  readonly call: Call;
  readonly input: unknown;
  readonly deadline: Deadline;
}

async function send(sending: Sending): Promise<WireReply> {
  const { operation, call, deadline } = sending;
  const first = await attempt(sending, call);
  if (!(first instanceof TransportError)) return first;
  const timeoutMs = Math.floor(deadline.remaining() - REPLY_MS);
  const isRepeatable = first.nothingRan || operation.effect === 'read' || call.idempotency !== null;
  if (!isRepeatable || timeoutMs < 1 || deadline.signal.aborted) throw lost(operation, call, first);
  const second = await attempt(sending, { ...call, timeoutMs });
  if (!(second instanceof TransportError)) return second;
  throw lost(
    operation,
    call,
    new TransportError(second.message, { nothingRan: first.nothingRan && second.nothingRan, cause: second }),
  );
}

async function attempt(
  { transport, name, input, deadline: { signal } }: Sending,
  call: Call,
): Promise<WireReply | TransportError> {
  if (signal.aborted) return new TransportError('the request was not sent', { nothingRan: true, cause: signal.reason });
  try {
    return await unlessAborted(signal, transport({ protocol: PROTOCOL_VERSION, name, call, input }, { signal }));
  } catch (error) {
    if (error instanceof TransportError) return error;
    if (isEnded(error))
      return new TransportError('there was no reply before the deadline', { nothingRan: false, cause: error });
    throw error;
  }
}

function answerOf(reply: WireReply, operation: Declared, call: Call): Answer<unknown> {
  if (!reply.ok) {
    if ('fault' in reply) throw new Error('the data plane had an internal error; see its log for this request id');
    if ('speaks' in reply)
      throw lost(
        operation,
        call,
        new TransportError(
          `the data plane uses version ${reply.speaks} of the protocol, this program version ${PROTOCOL_VERSION}: upgrade the older of the two`,
          { nothingRan: true },
        ),
      );
    throw fail(reply.code, reply.details, { replayed: reply.replayed });
  }
  const checked = answerChecker(operation.output)(reply.output);
  if (!checked.ok)
    throw lost(
      operation,
      call,
      new TransportError(`the response does not match its schema: ${checked.issues[0]?.path ?? ''}`, {
        nothingRan: false,
      }),
    );
  return { output: checked.value, replayed: reply.replayed };
}

const lost = (operation: Declared, call: Call, cause: TransportError) =>
  operation.effect === 'read' || cause.nothingRan
    ? fail('DATA_PLANE_UNAVAILABLE', { retryAfterSeconds: 5 }, { cause })
    : fail('DATA_PLANE_OUTCOME_UNKNOWN', { operationId: call.idempotency?.key ?? call.requestId }, { cause });
