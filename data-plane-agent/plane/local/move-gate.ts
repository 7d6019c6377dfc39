import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.js';
import type { Transaction } from '../../base/database/database.js';
import { fail } from '../../base/failures.js';
import { dataMoveOf, type MoveState } from '../store/data-moves.js';
import type { Invocation } from './unit-of-work.js';

/** How long a process may answer reads by a state that another process has changed since. */
const KNOWN_MS = 5_000;
const TENANTS = 10_000;
/** A client is asked to come back after this time; a move takes minutes. */
const RETRY_AFTER_S = 30;

type Asked = Pick<Invocation, 'call' | 'whileMoving'>;

/**
 * Refuses operations on data that is being moved, or was. Writes look at the state within their transaction, so that
 * none is committed after the data is frozen. Where the data comes from, it can be read until the move is complete.
 */
export interface MoveGate {
  read(tx: Transaction, asked: Asked): Promise<void>;
  /** Whether `read` would let it pass without looking at the state. */
  isOpen(asked: Asked): boolean;
  write(tx: Transaction, asked: Asked): Promise<void>;
  /** Steps of a move may change the state: the known one is forgotten after them. */
  passed<T>(asked: Asked, work: () => Promise<T>): Promise<T>;
}

export function createMoveGate(clock: Clock): MoveGate {
  const known = new LRUCache<string, { readonly state: MoveState | 'none'; readonly until: number }>({ max: TENANTS });

  return {
    async read(tx, { call: { tenantId }, whileMoving }) {
      if (whileMoving === 'always') return;
      const now = clock.now();
      let found = known.get(tenantId);
      if (!found || found.until <= now) {
        found = { state: (await dataMoveOf(tx, tenantId))?.state ?? 'none', until: now + KNOWN_MS };
        known.set(tenantId, found);
      }
      if (found.state === 'receiving') throw moving();
      if (found.state === 'moved') throw fail('DATA_MOVED', {});
    },

    isOpen({ call: { tenantId }, whileMoving }) {
      if (whileMoving === 'always') return true;
      const found = known.get(tenantId);
      return found !== undefined && found.until > clock.now() && found.state !== 'receiving' && found.state !== 'moved';
    },

    async write(tx, { call: { tenantId }, whileMoving }) {
      if (whileMoving === 'always') return;
      const state = (await dataMoveOf(tx, tenantId))?.state;
      if (state === undefined || state === 'arrived' || (state === 'draining' && whileMoving === 'settling')) return;
      throw state === 'moved' ? fail('DATA_MOVED', {}) : moving();
    },

    async passed({ call: { tenantId }, whileMoving }, work) {
      try {
        return await work();
      } finally {
        if (whileMoving === 'always') known.delete(tenantId);
      }
    },
  };
}

const moving = () => fail('DATA_MOVING', { retryAfterSeconds: RETRY_AFTER_S });
