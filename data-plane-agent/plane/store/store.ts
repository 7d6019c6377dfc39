import type { Clock } from '../../base/clock.js';
import type { Transaction } from '../../base/database/database.js';
import type { KeyRing } from '../../base/secrets.js';
import type { Call } from '../contract/call.js';
import { AuditTrail } from '../../base/audit/trail.js';
import { tenantTrail } from './audit-of-tenant.js';
import type { RollupDelta } from './rollup-delta.js';
import { ClosingStore } from './closings.js';
import { ContractFiles } from './contract-files.js';
import { ContractExport } from './contract-export.js';
import { ContractList } from './contract-list.js';
import { ContractStore } from './contracts.js';
import { CurrencyStore } from './currencies.js';
import { FieldStore } from './fields.js';
import { FieldValueStore } from './field-values.js';
import { FigureStore } from './figures.js';
import type { FigureMemory } from './figure-memory.js';
import { FileStore } from './files.js';
import { HoldStore } from './holds.js';
import { ImportStore } from './imports.js';
import { RunningImportStore } from './running-imports.js';
import { InvoiceRegister } from './invoice-register.js';
import { InvoiceStore } from './invoices.js';
import type { ChangeRecorder } from './change-recorder.js';
import { LifecycleConfigStore } from './lifecycle-config.js';
import { LifecycleStore } from './lifecycle.js';
import { LineStore } from './lines.js';
import { MovedRowStore } from './moved-rows.js';
import { OutboxStore } from './outbox.js';
import { TendedOutboxStore } from './tended-outbox.js';
import { OwnershipStore } from './ownership.js';
import { PaymentList } from './payment-list.js';
import { PendingReminderStore } from './pending-reminders.js';
import { ReminderSweep } from './reminder-sweep.js';
import { ReminderStore } from './reminders.js';
import { TaskStore } from './tasks.js';
import type { Totals } from './totals.js';
import type { ContractCores } from './contract-cores.js';
import { TransferStore } from './transfers.js';
import { TrashStore } from './trash.js';
import { DataMoveStore } from './data-moves.js';
import { DueWorkStore } from './due-next.js';
import { ExpiryStore } from './expiry.js';
import { ExtractionStore } from './extractions.js';
import { UploadStore } from './uploads.js';
import { ViewStore } from './views.js';
import { WorkflowEventStore } from './workflow-events.js';

/** The repositories of one transaction and one caller: none can be used without a tenant or after its transaction. */
export interface Store {
  readonly contracts: ContractStore;
  readonly contractList: ContractList;
  readonly contractExport: ContractExport;
  readonly contractFiles: ContractFiles;
  readonly imports: ImportStore;
  readonly runningImports: RunningImportStore;
  readonly lines: LineStore;
  readonly invoices: InvoiceStore;
  readonly invoiceRegister: InvoiceRegister;
  readonly tasks: TaskStore;
  readonly paymentList: PaymentList;
  readonly holds: HoldStore;
  readonly reminders: ReminderStore;
  readonly reminderSweep: ReminderSweep;
  readonly pendingReminders: PendingReminderStore;
  readonly lifecycle: LifecycleStore;
  readonly lifecycleConfig: LifecycleConfigStore;
  readonly workflowEvents: WorkflowEventStore;
  readonly fields: FieldStore;
  readonly fieldValues: FieldValueStore;
  readonly figures: FigureStore;
  readonly files: FileStore;
  readonly uploads: UploadStore;
  readonly auditTrail: AuditTrail;
  readonly currencies: CurrencyStore;
  readonly ownership: OwnershipStore;
  readonly closings: ClosingStore;
  readonly views: ViewStore;
  readonly extractions: ExtractionStore;
  readonly transfers: TransferStore;
  readonly trash: TrashStore;
  readonly outbox: OutboxStore;
  readonly tendedOutbox: TendedOutboxStore;
  readonly expiry: ExpiryStore;
  readonly dueWork: DueWorkStore;
  readonly dataMoves: DataMoveStore;
  readonly movedRows: MovedRowStore;
}

/** Dependencies of the repositories. `totals` outlives the transaction; there is one per database. */
export interface StoreParts {
  readonly tx: Transaction;
  readonly call: Call;
  readonly recorder: ChangeRecorder;
  readonly rollupDelta: RollupDelta;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly totals: Totals;
  /** As long-lived as `totals`. */
  readonly cores: ContractCores;
  /** As long-lived; for transactions that only read. */
  readonly figures?: FigureMemory;
}

export function createStore({
  tx,
  call,
  recorder,
  rollupDelta,
  clock,
  keyRing,
  totals,
  cores,
  figures,
}: StoreParts): Store {
  const fields = new FieldStore(tx, call, recorder);
  return {
    contracts: new ContractStore(tx, call, { recorder, rollupDelta }),
    contractList: new ContractList(tx, call, { totals, cores, memory: figures }),
    contractExport: new ContractExport(tx, call, { totals, cores }),
    contractFiles: new ContractFiles(tx, call),
    imports: new ImportStore(tx, call, { clock, recorder }),
    runningImports: new RunningImportStore(tx, call, { clock, keyRing, recorder }),
    lines: new LineStore(tx, call, { recorder, rollupDelta }),
    invoices: new InvoiceStore(tx, call, { recorder, rollupDelta }),
    invoiceRegister: new InvoiceRegister(tx, call, totals),
    tasks: new TaskStore(tx, call, recorder),
    paymentList: new PaymentList(tx, call, totals),
    holds: new HoldStore(tx, call, recorder),
    reminders: new ReminderStore(tx, call, { recorder, totals }),
    reminderSweep: new ReminderSweep(tx, call),
    pendingReminders: new PendingReminderStore(tx, call, recorder),
    lifecycle: new LifecycleStore(tx, call, recorder),
    lifecycleConfig: new LifecycleConfigStore(tx, call, { clock, recorder }),
    workflowEvents: new WorkflowEventStore(tx, call, { clock, recorder }),
    fields,
    fieldValues: new FieldValueStore(tx, call, recorder.due),
    figures: new FigureStore(tx, call, figures),
    files: new FileStore(tx, call, { recorder, fields }),
    uploads: new UploadStore(tx, call, recorder.due),
    auditTrail: new AuditTrail(tx, keyRing, tenantTrail(call, tx.dialect)),
    currencies: new CurrencyStore(tx, call),
    ownership: new OwnershipStore(tx, call, { recorder, rollupDelta }),
    closings: new ClosingStore(tx, call, clock),
    views: new ViewStore(tx, call, recorder),
    extractions: new ExtractionStore(tx, call, recorder),
    transfers: new TransferStore(tx, call),
    trash: new TrashStore(tx, call),
    outbox: new OutboxStore(tx, call, { clock, due: recorder.due }),
    tendedOutbox: new TendedOutboxStore(tx, call, { clock, due: recorder.due }),
    expiry: new ExpiryStore(tx, call),
    dueWork: new DueWorkStore(tx, call, { clock, due: recorder.due }),
    dataMoves: new DataMoveStore(tx, call, clock),
    movedRows: new MovedRowStore(tx, call, keyRing),
  };
}
