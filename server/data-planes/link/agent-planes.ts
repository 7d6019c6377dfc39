import { fail, isFailure } from '../../../data-plane-agent/base/failures.js';
import { isoOrNull } from '../../../data-plane-agent/base/instants.js';
import type { Clock } from '../../../data-plane-agent/base/clock.js';
import { CallEnded } from '../../../data-plane-agent/base/deadline.js';
import type { Signer } from '../../../data-plane-agent/base/link/keys.js';
import type { TokenRefusal } from '../../../data-plane-agent/base/link/tokens.js';
import { inSpan, type Tracer } from '../../../data-plane-agent/base/tracing/spans.js';
import { unlessAborted } from '../../../data-plane-agent/base/unless-aborted.js';
import type { DataPlane } from '../../../data-plane-agent/plane/contract/data-plane.js';
import { operationSpan, replied } from '../../../data-plane-agent/plane/contract/operation-span.js';
import { TransportError, type Transport } from '../../../data-plane-agent/plane/contract/wire.js';
import { OPERATIONS, type Operations } from '../../../data-plane-agent/plane/operations/index.js';
import { createRemoteDataPlane } from '../../../data-plane-agent/plane/remote.js';
import type { LinkedConnection } from '../../store/linked-connections.js';
import type { DataPlanes } from '../for-tenant.js';
import { keyRecorder } from './agent-keys.js';
import type { Breaker } from './breaker.js';
import { KnownReplies } from './known-replies.js';
import type { LinkMetrics, Outcome } from './metrics.js';
import type { Routes } from './routes.js';
import type { AgentStates } from './states.js';
import { transportOver } from './transport.js';

export interface AgentPlanesParts {
  readonly states: AgentStates;
  readonly routes: Routes;
  readonly breaker: Breaker;
  readonly signers: () => Promise<readonly Signer[]>;
  readonly clock: Clock;
  readonly metrics: LinkMetrics;
  /** Records each call, also one that belongs to no request. */
  readonly tracer?: Tracer | undefined;
  /** An agent that is called directly has another process than was known. */
  readonly greetAgain: (connection: LinkedConnection) => Promise<unknown>;
  /** Called with the time by an agent's clock, in epoch milliseconds, when it has replied. */
  readonly onReply?: ((tenantId: string, signedAt: number) => void) | undefined;
}

/**
 * The data planes of tenants behind their agents. Throws DATA_PLANE_NOT_CONNECTED if none has joined,
 * DATA_PLANE_UNAVAILABLE while it does not respond, and DATA_PLANE_MISMATCH for writes while it is not what was declared.
 */
export function agentPlanes(given: AgentPlanesParts): DataPlanes {
  const parts = { ...given, known: new KnownReplies((operation) => KEPT.has(operation)) };
  return { forTenant: (tenantId) => planeOf(tenantId, parts) };
}

/** The operations whose answers the plane keeps as well. */
const KEPT: ReadonlySet<string> = new Set(
  Object.entries(OPERATIONS).flatMap(([name, operation]) => ('isKept' in operation ? [name] : [])),
);

type Parts = AgentPlanesParts & { readonly known: KnownReplies };

function planeOf(tenantId: string, parts: Parts): DataPlane<Operations> {
  const { states, metrics } = parts;
  return {
    async invoke(name, asking, input) {
      const { connection, mismatches } = await states.of(tenantId);
      if (!connection) throw fail('DATA_PLANE_NOT_CONNECTED', {});
      const { effect } = OPERATIONS[name];
      if (effect === 'write' && mismatches.length > 0)
        throw fail('DATA_PLANE_MISMATCH', { mismatches: [...mismatches] });
      const began = performance.now();
      const finished = (outcome: Outcome): void =>
        metrics.answered({ effect, outcome, seconds: (performance.now() - began) / 1_000 });
      const transport = traced(transportTo(tenantId, parts), parts.tracer);
      const plane = createRemoteDataPlane({ operations: OPERATIONS, transport });
      try {
        const answer = await plane.invoke(name, asking, input);
        finished('answered');
        return answer;
      } catch (error) {
        finished(outcomeOf(error));
        if (!isFailure(error, 'DATA_PLANE_UNAVAILABLE')) throw error;
        const lastSeenAt = isoOrNull(connection.lastSeenAt);
        throw fail('DATA_PLANE_UNAVAILABLE', { ...error.details, lastSeenAt }, { cause: error });
      }
    },
  };
}

const outcomeOf = (error: unknown): Outcome => {
  if (isFailure(error, 'DATA_PLANE_UNAVAILABLE')) return 'unavailable';
  if (isFailure(error, 'DATA_PLANE_OUTCOME_UNKNOWN')) return 'unknown';
  return isFailure(error) ? 'refused' : 'failed';
};

/** A span for each attempt, whose context goes to the agent. */
const traced =
  (transport: Transport, tracer: Tracer | undefined): Transport =>
  (request, options) =>
    inSpan(
      operationSpan('client', request),
      async (span) => {
        const reply = await transport(request, options);
        replied(span, reply);
        return reply;
      },
      tracer,
    );

/** Finds the way anew for each attempt: the session of the first one may have ended. */
function transportTo(tenantId: string, parts: Parts): Transport {
  const { states, routes, breaker, signers, clock, metrics, greetAgain, onReply, known } = parts;
  return async (request, { signal }) => {
    const { connection } = await states.of(tenantId);
    const route = connection && (await routes.to(connection, signal));
    if (!connection || !route) throw new TransportError('the agent has no session', { nothingRan: true });
    if (!breaker.admits(tenantId))
      throw new TransportError('the agent did not respond to the last requests', { nothingRan: true });
    const sentAt = breaker.now();
    let refused: TokenRefusal | undefined;
    const transport = transportOver(route, {
      signers,
      keyOf: keyRecorder(connection, clock).keyOf,
      clock,
      known,
      onReply: (signedAt) => onReply?.(tenantId, signedAt),
      onRefused: (by, reason) => {
        refused = reason;
        metrics.refused(by, reason);
      },
    });
    try {
      const reply = await unlessAborted(signal, transport(request, { signal }));
      breaker.succeeded(tenantId);
      return reply;
    } catch (error) {
      // The agent has restarted, or the session was replaced: it did respond.
      if (refused === 'session') {
        states.changed(tenantId);
        routes.changed(tenantId);
        if (connection.accessMode === 'direct') await unlessAborted(signal, greetAgain(connection));
      } else if (isItsFault(error, signal)) breaker.failed(tenantId, sentAt);
      throw error;
    }
  };
}

/** Not if the caller has disconnected, nor if the session ended, for example because a replica of the control plane stops. */
const isItsFault = (error: unknown, { reason }: AbortSignal): boolean =>
  error instanceof TransportError ? !error.sessionEnded : reason instanceof CallEnded && reason.why === 'timeout';
