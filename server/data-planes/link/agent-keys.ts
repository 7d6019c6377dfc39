import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../../data-plane-agent/base/clock.js';
import { verifierOf } from '../../../data-plane-agent/base/link/keys.js';
import { acceptedKeys, type AgentKey, type LinkedConnection } from '../../store/linked-connections.js';

/** The accepted keys of an agent, and which of them was asked for last. */
export interface KeyRecorder {
  keyOf(kid: string): KeyObject | undefined;
  readonly used: AgentKey | undefined;
}

type Keys = Pick<LinkedConnection, 'status' | 'agentKey' | 'previousKey' | 'previousKeyUntil'>;

export function keyRecorder(connection: Keys, clock: Clock): KeyRecorder {
  let used: AgentKey | undefined;
  return {
    keyOf: (kid) => {
      used = acceptedKeys(connection, clock.now()).find((key) => key.kid === kid);
      return used && imported(used);
    },
    get used() {
      return used;
    },
  };
}

const MOST = 10_000;
const verifiers = new Map<string, KeyObject>();

/** Imported once for each key: it is needed for each reply. */
function imported({ kid, key }: AgentKey): KeyObject {
  const known = verifiers.get(kid);
  if (known) return known;
  if (verifiers.size >= MOST) verifiers.clear();
  const made = verifierOf(key);
  verifiers.set(kid, made);
  return made;
}
