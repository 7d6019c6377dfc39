import { setTimeout as sleep } from 'node:timers/promises';
import { answerChecker } from '../base/answer-check.js';
import { deadlineIn, isEnded, type Deadline } from '../base/deadline.js';
import { fail, FAILURES } from '../base/failures.js';
import { PROTOCOLS } from '../base/link/limits.js';
import { unlessAborted } from '../base/unless-aborted.js';
import type { Call } from './contract/call.js';
import type { Answer, DataPlane, OperationList } from './contract/data-plane.js';
import type { Declared } from './contract/operation.js';
import { TransportError, type Transport, type WireReply } from './contract/wire.js';

/** Extra time for the reply: the other side enforces the timeout itself and reports the outcome. */
const REPLY_MS = 1_000;

/**
 * The data plane over a network. If the reply is lost, the request is sent once more, or several times if the session
 * ended and another one may replace it, within the caller's time, but only where that is safe: if nothing ran, for reads,
 * and for writes with an idempotency key. A repeated write waits while the first one still runs. Otherwise the failure
 * says whether nothing ran or something may have, in any of the attempts.
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

/** The pauses before requests are sent again because the session ended; other requests are repeated once, at once. */
const PAUSES_MS = [0, 50, 100, 200, 400, 800, 1_600] as const;
const LONGEST_PAUSE_MS = 1_600;

async function send(sending: Sending): Promise<WireReply> {
  const { operation, call, deadline } = sending;
  const state = { nothingRan: true };
  let got = await attempt(sending, call);
  for (let repeats = 0; ; repeats++) {
    if (got instanceof TransportError) state.nothingRan &&= got.nothingRan;
    const pauseMs = pauseAfter(got, { repeats, operation, call, ...state });
    if (pauseMs === undefined) break;
    const timeoutMs = Math.floor(deadline.remaining() - REPLY_MS - pauseMs);
    if (timeoutMs < 1 || deadline.signal.aborted) break;
    if (pauseMs > 0) await sleep(pauseMs);
    got = await attempt(sending, { ...call, timeoutMs });
  }
  if (got instanceof TransportError)
    throw lost(operation, call, new TransportError(got.message, { ...state, cause: got }));
  if (state.nothingRan || !isPassing(got)) return got;
  throw lost(operation, call, new TransportError('an earlier attempt has no reply', { nothingRan: false }));
}

/** How long to wait before the request is sent again; `undefined` if it is not. */
function pauseAfter(
  got: WireReply | TransportError,
  {
    repeats,
    operation,
    call,
    nothingRan,
  }: Pick<Sending, 'operation' | 'call'> & { readonly repeats: number; readonly nothingRan: boolean },
): number | undefined {
  const pauseMs = PAUSES_MS[repeats];
  if (!(got instanceof TransportError))
    // The attempt whose reply was lost still runs: its answer follows.
    return !nothingRan && isInProgress(got) ? (pauseMs ?? LONGEST_PAUSE_MS) : undefined;
  const isRepeatable = got.nothingRan || operation.effect === 'read' || call.idempotency !== null;
  return isRepeatable && (repeats === 0 || got.sessionEnded) ? pauseMs : undefined;
}

const isInProgress = (reply: WireReply): boolean =>
  !reply.ok && 'code' in reply && reply.code === 'IDEMPOTENCY_IN_PROGRESS';

/** Says why this attempt did nothing, which says nothing about an earlier one whose reply was lost. */
const isPassing = (reply: WireReply): boolean =>
  !reply.ok && ('speaks' in reply || ('code' in reply && PASSING.has(reply.code)));

const PASSING: ReadonlySet<string> = new Set(
  Object.entries(FAILURES).flatMap(([code, { status }]) =>
    status === 429 || status === 503 || code === 'IDEMPOTENCY_IN_PROGRESS' ? [code] : [],
  ),
);

async function attempt(
  { transport, name, input, deadline: { signal } }: Sending,
  call: Call,
): Promise<WireReply | TransportError> {
  if (signal.aborted) return new TransportError('the request was not sent', { nothingRan: true, cause: signal.reason });
  try {
    return await unlessAborted(signal, transport({ protocol: PROTOCOLS.max, name, call, input }, { signal }));
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
          `the data plane uses version ${reply.speaks} of the protocol, this program version ${PROTOCOLS.max}: upgrade the older of the two`,
          { nothingRan: true },
        ),
      );
    throw fail(reply.code, reply.details, { replayed: reply.replayed });
  }
  if (isSound(reply.output, operation)) return { output: reply.output, replayed: reply.replayed };
  const checked = answerChecker(operation.output)(reply.output);
  if (!checked.ok)
    throw lost(
      operation,
      call,
      new TransportError(`the response does not match its schema: ${checked.issues[0]?.path ?? ''}`, {
        nothingRan: false,
      }),
    );
  if (isShared(checked.value)) sound.set(checked.value, operation);
  return { output: checked.value, replayed: reply.replayed };
}

/** Outputs that were checked, with the operation whose they are: those that cannot change need no second check. */
const sound = new WeakMap<object, Declared>();
const isShared = (output: unknown): output is object =>
  typeof output === 'object' && output !== null && Object.isFrozen(output);
const isSound = (output: unknown, operation: Declared): boolean => isShared(output) && sound.get(output) === operation;

const lost = (operation: Declared, call: Call, cause: TransportError) =>
  operation.effect === 'read' || cause.nothingRan
    ? fail('DATA_PLANE_UNAVAILABLE', { retryAfterSeconds: 5 }, { cause })
    : fail('DATA_PLANE_OUTCOME_UNKNOWN', { operationId: call.idempotency?.key ?? call.requestId }, { cause });
