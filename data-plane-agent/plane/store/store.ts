import type { Clock } from '../../base/clock.js';
import type { Transaction } from '../../base/database/database.js';
import type { Call } from '../contract/call.js';
import { ContractStore } from './contracts.js';
import { FileStore } from './files.js';
import type { Journal } from './journal.js';
import { LifecycleStore } from './lifecycle.js';
import { LineStore } from './lines.js';

/** The repositories, made from one transaction for one caller: none can be had without a tenant, and none outlives its transaction. */
export interface Store {
  readonly contracts: ContractStore;
  readonly lines: LineStore;
  readonly lifecycle: LifecycleStore;
  readonly files: FileStore;
}

export const createStore = (tx: Transaction, call: Call, journal: Journal, clock: Clock): Store => ({
  contracts: new ContractStore(tx, call, journal),
  lines: new LineStore(tx, call, journal),
  lifecycle: new LifecycleStore(tx, call, clock, journal),
  files: new FileStore(tx, call),
});
