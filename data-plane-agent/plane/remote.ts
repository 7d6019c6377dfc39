import { fail } from '../base/failures.js';
import { answerChecker } from '../base/answer-check.js';
import type { Call } from './contract/call.js';
import type { Answer, DataPlane, OperationList } from './contract/data-plane.js';
import type { Declared } from './contract/operation.js';
import { PROTOCOL_VERSION, TransportError, type Transport, type WireReply } from './contract/wire.js';

/**
 * The data plane behind a wire. A lost reply is asked for again only where that is safe: of a read, and of a write that carries an
 * idempotency key, once, within the caller's time. What remains is said plainly: nothing ran, or it may have.
 */
export function createRemoteDataPlane<L extends OperationList>({ operations, transport }: { readonly operations: L; readonly transport: Transport }): DataPlane<L> {
  return {
    async invoke(name, call, input) {
      const operation = operations[name];
      if (!operation) throw new Error(`no operation is called ${name}`);
      const reply = await send(transport, operation, name, call, input);
      return answerOf(reply, operation, call) as Answer<never>; // its output has just been checked against the declaration
    },
  };
}

async function send(transport: Transport, operation: Declared, name: string, call: Call, input: unknown): Promise<WireReply> {
  const request = { protocol: PROTOCOL_VERSION, name, call, input };
  try {
    return await transport(request);
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    const repeatable = error.nothingRan || operation.effect === 'read' || call.idempotency !== null;
    if (!repeatable) throw lost(operation, call, error);
    return transport(request).catch((second: unknown) => {
      throw second instanceof TransportError ? lost(operation, call, new TransportError(second.message, { nothingRan: error.nothingRan && second.nothingRan, cause: second })) : second;
    });
  }
}

function answerOf(reply: WireReply, operation: Declared, call: Call): Answer<unknown> {
  if (!reply.ok) {
    if ('fault' in reply) throw new Error('the data plane reported a fault of its own; its log has it under this request id');
    throw fail(reply.code, reply.details, { replayed: reply.replayed });
  }
  const checked = answerChecker(operation.output)(reply.output);
  if (!checked.ok) throw lost(operation, call, new TransportError(`the answer does not match its schema: ${checked.issues[0]?.path ?? ''}`, { nothingRan: false }));
  return { output: checked.value, replayed: reply.replayed };
}

const lost = (operation: Declared, call: Call, cause: TransportError) =>
  operation.effect === 'read' || cause.nothingRan ? fail('DATA_PLANE_UNAVAILABLE', { retryAfterSeconds: 5 }, { cause }) : fail('DATA_PLANE_OUTCOME_UNKNOWN', { operationId: call.idempotency?.key ?? call.requestId }, { cause });
