import type { Job } from '../base/schedules.js';
import type { BoundPlane } from '../plane/contract/data-plane.js';
import type { ObjectStore } from '../plane/files/objects/object-store.js';
import type { Operations } from '../plane/operations/index.js';

/** A step that is taken with each tenant's data plane, again while it says that there is more. */
export interface Round {
  /** In whose name: the audit and the log tell it. */
  readonly job: string;
  readonly signal?: AbortSignal | undefined;
  readonly step: (plane: BoundPlane<Operations>, tenantId: string) => Promise<{ readonly more: boolean }>;
}

/** Goes through the tenants. Row-level security shows a plane nobody's rows unasked, so whoever knows the tenants hands this in. */
export type EachTenant = (round: Round) => Promise<void>;

/** A plane's upkeep: its audit is chained; scans and readings are taken up that wait for their turn or were lost with their process; what nobody will ask for any more goes. */
export function planeJobs({ eachTenant, objects }: { readonly eachTenant: EachTenant; readonly objects: ObjectStore }): readonly Job[] {
  const job = (name: string, rule: string, step: Round['step']): Job => ({ name, rule, run: (signal) => eachTenant({ job: name, signal, step }) });
  const orphans = job('file-orphans', '20 45 2 * * *', (plane) => plane.sweepFiles({ orphans: true }));
  return [
    job('audit-chain', '*/5 * * * * *', (plane) => plane.chainAudit({})),
    job('file-scans', '*/15 * * * * *', (plane) => plane.scanFiles({})),
    job('documents', '5,35 * * * * *', (plane) => plane.readDocuments({})),
    job('file-sweep', '20 15 * * * *', (plane) => plane.sweepFiles({ orphans: false })),
    { ...orphans, run: (signal) => orphans.run(signal).then(() => objects.tidy()) },
  ];
}
