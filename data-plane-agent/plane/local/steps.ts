import type { Clock } from '../../base/clock.js';
import { isUnavailable } from '../../base/database/errors.js';
import type { Settled } from '../../base/database/idempotency.js';
import { isEnded } from '../../base/deadline.js';
import { newId } from '../../base/ids.js';
import type { Steps } from '../contract/steps.js';
import type { OperationContext } from '../steps/operation-context.js';
import { AlreadyAnswered, answered, type Invocation, type UnitsOfWork } from './unit-of-work.js';

/** The progress of an operation. */
export interface Progress {
  /** Whether a step has been committed, so that "nothing was changed" would be wrong. */
  hasWritten: boolean;
}

export interface StepsParts {
  readonly units: UnitsOfWork;
  readonly clock: Clock;
  readonly progress: Progress;
}

export interface TakenSteps {
  readonly steps: Steps<OperationContext>;
  /** The outcome of `conclude`, once it was called. */
  concluded(): Settled | undefined;
}

/** The steps of a call: each is its own unit of work. */
export function createSteps(parts: StepsParts, invocation: Invocation): TakenSteps {
  const { units, clock, progress } = parts;
  let concluded: Settled | undefined;
  let asked = invocation;
  const conclude = async (run: (context: OperationContext) => Promise<unknown>): Promise<unknown> => {
    concluded = await units.writeOnce(asked, run);
    progress.hasWritten = true;
    return answered(concluded).output;
  };
  const keep = (): void => {
    progress.hasWritten = true;
    invocation.deadline.keep();
    asked = { ...invocation, whileMoving: invocation.whileMoving ?? 'settling' };
  };
  return {
    concluded: () => concluded,
    steps: {
      clock,
      newId,
      signal: invocation.deadline.signal,
      writesAtOnce: units.writesAtOnce,
      read: (run) => units.read(asked, run),
      async write(run) {
        const output = await units.write(asked, run);
        progress.hasWritten = true;
        return output;
      },
      upkeep: (run) => units.upkeep(asked, run),
      conclude: <T>(run: (context: OperationContext) => Promise<T>) => conclude(run) as Promise<T>, // the output of `run`, from now or from the first use of the key
      announce: (run) => units.announce(asked, run),
      keep,
      wasStopped: (error) => isEnded(error) || isUnavailable(error),
      inTheNameOf: (name, call) => createSteps(parts, { ...asked, name, call, isUpkeep: false }).steps,
    },
  };
}

/** Runs work in steps unless its response is stored already. */
export async function settledInSteps(
  parts: StepsParts,
  invocation: Invocation,
  work: (steps: Steps<OperationContext>) => Promise<unknown>,
): Promise<Settled> {
  const kept = await parts.units.kept(invocation);
  if (kept) return kept;
  const { steps, concluded } = createSteps(parts, invocation);
  try {
    const output = await work(steps);
    const last = concluded();
    return last && 'output' in last ? last : { output, replayed: false };
  } catch (error) {
    if (error instanceof AlreadyAnswered) return error.settled;
    throw error;
  }
}
