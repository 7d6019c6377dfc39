import { invalid, isFailure } from '../base/failures.js';
import { includes, PROTOCOLS } from '../base/link/limits.js';
import { checker } from '../base/validation.js';
import { Call } from './contract/call.js';
import type { DataPlane, OperationList } from './contract/data-plane.js';
import type { Transport } from './contract/wire.js';

/**
 * The server side of `createRemoteDataPlane`: handles every operation on the agent's single route. Requests of a
 * protocol version that this program does not speak are rejected unread. This function validates the call, the data plane the input. `onFault` gets
 * unexpected errors.
 */
export function serve<L extends OperationList>(
  plane: DataPlane<L>,
  names: readonly (keyof L & string)[],
  onFault: (error: unknown) => void,
): Transport {
  const known = new Set<string>(names);
  return async ({ protocol, name, call, input }, { signal }) => {
    if (!includes(PROTOCOLS, protocol)) return { ok: false, speaks: PROTOCOLS.max };
    try {
      if (!known.has(name)) throw invalid({ path: 'name', problem: 'is not a known operation' });
      const checked = checker(Call)(call);
      if (!checked.ok) throw invalid(...checked.issues.map(({ path, problem }) => ({ path: `call.${path}`, problem })));
      const { output, replayed } = await plane.invoke(name, { call: checked.value, signal }, input as never); // the plane checks it
      return { ok: true, output, replayed };
    } catch (error) {
      if (isFailure(error)) return { ok: false, code: error.code, details: error.details, replayed: error.replayed };
      onFault(error);
      return { ok: false, fault: true };
    }
  };
}
