import { setTimeout as sleep } from 'node:timers/promises';
import { isFailure } from '../../../data-plane-agent/base/failures.js';
import type { Call } from '../../../data-plane-agent/plane/contract/call.js';
import { bind, type BoundPlane, type DataPlane } from '../../../data-plane-agent/plane/contract/data-plane.js';
import { OPERATIONS, type Operations } from '../../../data-plane-agent/plane/operations/index.js';
import type { Direction } from '../../store/data-moves.js';

/** What a move asks of the data plane that the data comes from. */
export const SOURCE_OPERATIONS = [
  'beginMovingOut',
  'chainAudit',
  'readRowsToMove',
  'readLongText',
  'digestRows',
  'listFilesToMove',
  'readFilePart',
  'hashFile',
  'finishMovingOut',
  'cancelMove',
  'removeMovedData',
] as const;
/** What it asks of the one that the data goes to. */
export const TARGET_OPERATIONS = [
  'beginReceiving',
  'receiveRows',
  'receiveLongText',
  'digestRows',
  'receiveFilePart',
  'hashFile',
  'finishReceiving',
  'cancelMove',
  'removeMovedData',
] as const;

export type Source = Pick<BoundPlane<Operations>, (typeof SOURCE_OPERATIONS)[number]>;
export type Target = Pick<BoundPlane<Operations>, (typeof TARGET_OPERATIONS)[number]>;

/** The two data planes of a move. */
export interface Sides {
  readonly source: Source;
  readonly target: Target;
}

export interface Planes {
  readonly embedded: DataPlane<Operations>;
  readonly agent: DataPlane<Operations>;
}

/** The deadline of one step, in milliseconds: a page of rows, or a file that is read in full. */
const TIMEOUT_MS = 120_000;
/** How long a step is repeated while a data plane does not answer. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 1_000;

/** All steps can be repeated, so one whose outcome is unknown is sent again like one that was not run. */
const TRANSIENT = [
  'DATA_PLANE_UNAVAILABLE',
  'DATA_PLANE_OUTCOME_UNKNOWN',
  'OBJECT_STORE_UNAVAILABLE',
  'RATE_LIMITED',
] as const;

export function sidesOf({ embedded, agent }: Planes, direction: Direction, call: Call): Sides {
  const [from, to] = direction === 'agent' ? [embedded, agent] : [agent, embedded];
  return { source: sourceOf(from, call), target: targetOf(to, call) };
}

export const sourceOf = (plane: DataPlane<Operations>, call: Call): Source =>
  patient(bind(plane, { ...call, timeoutMs: TIMEOUT_MS }, { operations: OPERATIONS, only: SOURCE_OPERATIONS }));

export const targetOf = (plane: DataPlane<Operations>, call: Call): Target =>
  patient(bind(plane, { ...call, timeoutMs: TIMEOUT_MS }, { operations: OPERATIONS, only: TARGET_OPERATIONS }));

/** Sends requests again while the data plane does not answer, for a minute. */
export function patient<P extends object>(
  plane: P,
  { patienceMs = PATIENCE_MS, pauseMs = PAUSE_MS }: { readonly patienceMs?: number; readonly pauseMs?: number } = {},
): P {
  return new Proxy(plane, {
    get: (target, name, receiver) => {
      const method: unknown = Reflect.get(target, name, receiver);
      if (typeof method !== 'function') return method;
      return async (input: unknown): Promise<unknown> => {
        for (const giveUpAt = performance.now() + patienceMs; ; await sleep(pauseMs)) {
          try {
            return (await Reflect.apply(method, target, [input])) as unknown;
          } catch (error) {
            if (!TRANSIENT.some((code) => isFailure(error, code)) || performance.now() > giveUpAt) throw error;
          }
        }
      };
    },
  });
}
