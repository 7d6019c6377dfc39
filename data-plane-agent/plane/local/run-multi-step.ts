import type { Clock } from '../../base/clock.js';
import { isRefusal } from '../../base/database/idempotency.js';
import type { Log } from '../../base/log.js';
import { unlessAborted } from '../../base/unless-aborted.js';
import type { Answer } from '../contract/data-plane.js';
import type { MultiStepOperation } from '../contract/operation.js';
import type { ObjectStore } from '../files/objects/object-store.js';
import type { FileServices } from '../files/services.js';
import type { MultiStepContext } from '../steps/operation-context.js';
import { createSteps, type Progress } from './steps.js';
import type { InTurn } from './turns.js';
import { answered, type Invocation, type UnitsOfWork } from './unit-of-work.js';

/** Services other than the database. */
export interface ExternalServices {
  readonly files: FileServices;
  readonly log: Log;
  /** Delays the end of the process until the promise settles. It must not reject. */
  afterwards(rest: Promise<void>): void;
}

export interface MultiStepOptions {
  readonly units: UnitsOfWork;
  readonly external: ExternalServices | undefined;
  readonly clock: Clock;
  readonly inTurn: InTurn;
}

/**
 * Runs operations that need more than one transaction. Each step is its own unit of work. The output of `conclude`, or
 * else that of the whole operation, is stored as the response for the idempotency key.
 */
export function multiStepRunner({
  units,
  external: outside,
  clock,
  inTurn,
}: MultiStepOptions): (
  operation: MultiStepOperation<MultiStepContext>,
  invocation: Invocation,
  run: { readonly input: unknown; readonly progress: Progress },
) => Promise<Answer<unknown>> {
  const externally: Find = ({ name }) => {
    if (!outside) throw new Error(`${name} needs an object store, and this data plane was opened without one`);
    return outside;
  };

  return async (operation, invocation, { input, progress }) => {
    const { call, deadline } = invocation;
    const kept = await units.kept(invocation);
    if (kept) return answered(kept);
    // Once started, a write with a key runs to its end, so that a retry finds its response.
    if (call.idempotency) deadline.keep();
    const { steps, concluded } = createSteps({ units, clock, progress }, invocation);
    const output = await inTurn(operation, invocation, () =>
      units.alone(invocation, async () => {
        try {
          const output = await operation.perform(
            Object.assign(new ExternalContext(invocation, externally), steps),
            call,
            input,
          );
          // Without `conclude` the output is stored under the key here.
          return concluded() || !call.idempotency ? output : await steps.conclude(() => Promise.resolve(output));
        } catch (error) {
          // A refusal by an earlier step is stored as well, like one by the last step.
          if (!concluded() && isRefusal(error)) await units.writeOnce(invocation, () => Promise.reject(error));
          throw error;
        }
      }),
    );
    return { output, replayed: concluded()?.replayed ?? false };
  };
}

type Find = (invocation: Invocation) => ExternalServices;

/**
 * What a call's steps use besides the database, looked up when it is used: steps that need nothing but the database also
 * run in a data plane without other services. A class, since each object with getters of its own has a hidden class of
 * its own, which V8 keeps, with all of the call, until its next full garbage collection.
 */
class ExternalContext implements Pick<MultiStepContext, 'files' | 'log' | 'afterwards'> {
  constructor(
    private readonly invocation: Invocation,
    private readonly find: Find,
  ) {}

  get files(): FileServices {
    const { files } = this.find(this.invocation);
    return { ...files, objects: untilEnded(files.objects, this.invocation.deadline.signal) };
  }

  get log(): Log {
    const { name, call } = this.invocation;
    return this.find(this.invocation).log.child({
      operation: name,
      requestId: call.requestId,
      tenantId: call.tenantId,
    });
  }

  readonly afterwards = (rest: () => Promise<void>): void => {
    // The response is final, so the remaining work has no deadline.
    this.invocation.deadline.settle();
    this.find(this.invocation).afterwards(
      rest().catch((error: unknown) => {
        this.log.error({ err: error }, 'background work failed');
      }),
    );
  };
}

/**
 * An object store whose reads stop at the deadline. Changes are awaited, with the store's own timeout: an abandoned
 * change might still take effect after a retry has repeated it.
 */
const untilEnded = (objects: ObjectStore, signal: AbortSignal): ObjectStore => {
  const begun = <T>(change: () => Promise<T>): Promise<T> =>
    signal.aborted ? Promise.reject(signal.reason as Error) : change();
  return {
    provider: objects.provider,
    bucket: objects.bucket,
    uploadUrl: (upload) => objects.uploadUrl(upload),
    downloadUrl: (download) => objects.downloadUrl(download),
    head: (key) => unlessAborted(signal, objects.head(key)),
    read: (key, version) => objects.read(key, { ...version, signal: AbortSignal.any([version.signal, signal]) }),
    write: (key, content, about) => begun(() => objects.write(key, content, about)),
    copy: (from, to, ifMatch) => begun(() => objects.copy(from, to, ifMatch)),
    remove: (key) => begun(() => objects.remove(key)),
    async *list(prefix) {
      for await (const object of objects.list(prefix)) {
        signal.throwIfAborted();
        yield object;
      }
    },
    tidy: () => objects.tidy(),
    probe: (how) => objects.probe(how),
    close: () => objects.close(),
  };
};
