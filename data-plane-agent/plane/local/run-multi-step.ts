import type { Clock } from '../../base/clock.js';
import { isRefusal, type Settled } from '../../base/database/idempotency.js';
import { newId } from '../../base/ids.js';
import type { Log } from '../../base/log.js';
import { unlessAborted } from '../../base/unless-aborted.js';
import type { Answer } from '../contract/data-plane.js';
import type { MultiStepOperation } from '../contract/operation.js';
import type { ObjectStore } from '../files/objects/object-store.js';
import type { FileServices } from '../files/services.js';
import type { OperationContext, MultiStepContext } from '../steps/operation-context.js';
import { answered, type Asked, type UnitsOfWork } from './unit-of-work.js';

/** What is outside the database. */
export interface ExternalServices {
  readonly files: FileServices;
  readonly log: Log;
  /** Keeps the process until this has come to its end. It never rejects. */
  afterwards(rest: Promise<void>): void;
}

/** What has been committed of an operation so far. */
export interface Progress {
  /** A step of it changed something, so that nobody can say that nothing was done. */
  hasWritten: boolean;
}

export interface MultiStepOptions {
  readonly units: UnitsOfWork;
  readonly external: ExternalServices | undefined;
  readonly clock: Clock;
}

/**
 * Runs operations that no transaction can hold. Each step is a unit of work of its own; the last one, or else whatever
 * the whole comes to, is the answer under the idempotency key.
 */
export function multiStepRunner({
  units,
  external: outside,
  clock,
}: MultiStepOptions): (
  operation: MultiStepOperation<MultiStepContext>,
  asked: Asked,
  run: { readonly input: unknown; readonly progress: Progress },
) => Promise<Answer<unknown>> {
  return async (operation, asked, { input, progress }) => {
    const { name, call, deadline } = asked;
    if (!outside) throw new Error(`${name} needs an object store, and this data plane was opened without one`);
    const kept = await units.kept(asked);
    if (kept) return answered(kept);
    // Once it is begun a write under a key goes on to its end: whoever asks again finds the answer.
    if (call.idempotency) deadline.keep();
    let concluded: Settled | undefined;
    const conclude = async (run: (context: OperationContext) => Promise<unknown>): Promise<unknown> => {
      concluded = await units.writeOnce(asked, run);
      progress.hasWritten = true;
      return answered(concluded).output;
    };
    const log = outside.log.child({ operation: name, requestId: call.requestId, tenantId: call.tenantId });
    const work: MultiStepContext = {
      files: { ...outside.files, objects: untilEnded(outside.files.objects, deadline.signal) },
      clock,
      newId,
      log,
      signal: deadline.signal,
      read: (run) => units.read(asked, run),
      async write(run) {
        const output = await units.write(asked, run);
        progress.hasWritten = true;
        return output;
      },
      upkeep: (run) => units.upkeep(asked, run),
      conclude: <T>(run: (context: OperationContext) => Promise<T>) => conclude(run) as Promise<T>, // what `run` gave, now or when the key was first used
      afterwards(rest) {
        // Its answer stands: what goes on now has all its time.
        deadline.settle();
        outside.afterwards(
          rest().catch((error: unknown) => {
            log.error({ err: error }, 'not finished');
          }),
        );
      },
    };
    const output = await units.alone(asked, async () => {
      try {
        const came = await operation.perform(work, call, input);
        // What needed no last step is the answer to its key all the same.
        return concluded || !call.idempotency ? came : await conclude(() => Promise.resolve(came));
      } catch (error) {
        // A refusal on the way is an answer to keep, as one of the last step is.
        if (!concluded && isRefusal(error)) await units.writeOnce(asked, () => Promise.reject(error));
        throw error;
      }
    });
    return { output, replayed: concluded?.replayed ?? false };
  };
}

/**
 * A store whose questions end with the call. What changes an object is waited for, within the store's own time: given
 * up half-way it might still come to pass, after whoever asks again has done it anew.
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
