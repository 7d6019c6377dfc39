import type { Clock } from '../../base/clock.js';
import type { Transaction } from '../../base/database/database.js';
import type { KeyRing } from '../../base/secrets.js';
import type { Call } from '../contract/call.js';
import { AuditTrail } from './audit-trail.js';
import { tenantTrail } from './audit-of-tenant.js';
import { ContractList } from './contract-list.js';
import { ContractStore } from './contracts.js';
import { FileStore } from './files.js';
import type { Journal } from './journal.js';
import { LifecycleStore } from './lifecycle.js';
import { LineStore } from './lines.js';
import { OwnershipStore } from './ownership.js';
import { PaymentList } from './payment-list.js';
import { PaymentStatsStore } from './payment-stats.js';
import type { Totals } from './totals.js';

/** The repositories, made from one transaction for one caller: none can be had without a tenant, and none outlives its transaction. */
export interface Store {
  readonly contracts: ContractStore;
  readonly contractList: ContractList;
  readonly lines: LineStore;
  readonly paymentList: PaymentList;
  readonly paymentStats: PaymentStatsStore;
  readonly lifecycle: LifecycleStore;
  readonly files: FileStore;
  readonly auditTrail: AuditTrail;
  readonly ownership: OwnershipStore;
}

/** What the repositories need; `totals` outlives the transaction, one for a database. */
export interface StoreParts {
  readonly tx: Transaction;
  readonly call: Call;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly totals: Totals;
}

export const createStore = ({ tx, call, journal, clock, keyRing, totals }: StoreParts): Store => ({
  contracts: new ContractStore(tx, call, journal),
  contractList: new ContractList(tx, call, totals),
  lines: new LineStore(tx, call, journal),
  paymentList: new PaymentList(tx, call, totals),
  paymentStats: new PaymentStatsStore(tx, call),
  lifecycle: new LifecycleStore(tx, call, clock, journal),
  files: new FileStore(tx, call),
  auditTrail: new AuditTrail(tx, keyRing, tenantTrail(call, tx.dialect)),
  ownership: new OwnershipStore(tx, call, journal),
});
