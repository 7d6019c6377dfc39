import { bind, type BoundPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import { ALL_RIGHTS, type Call } from '../../data-plane-agent/plane/contract/call.js';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { WORKFLOW_STAGES } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { OPERATION_NAMES, type Operations } from '../../data-plane-agent/plane/operations/index.js';
import type { DataPlanes } from '../../server/data-planes/for-tenant.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { demoBook, type DemoContract } from './book.js';
import { DEMO_MEMBERS } from './cast.js';
import type { DemoLine } from './lines.js';
import type { DemoIds, DemoTenant } from './tenant.js';

type Plane = BoundPlane<Operations>;

export interface Desk {
  readonly dataPlanes: DataPlanes;
  readonly tenant: DemoTenant;
  readonly ids: DemoIds;
  /** Told how many contracts of the book are entered. */
  readonly progress: (done: number, all: number) => void;
}

/** Contracts that are entered at a time; their writes share commits. */
const AT_ONCE = 30;

/**
 * Enters the book through the data plane's own operations, the oldest contract first. What an interrupted run entered is found by its
 * number and its receipts are gone on with, so nothing is there twice.
 */
export async function enterBook(desk: Desk): Promise<void> {
  const book = demoBook(desk.tenant.day);
  const present = await presentContracts(planeOf(desk, 'lin'));
  for (let start = 0; start < book.length; start += AT_ONCE) {
    desk.progress(start, book.length);
    await Promise.all(book.slice(start, start + AT_ONCE).map((contract) => enter(contract, present.get(contract.input.contractNo), desk)));
  }
  desk.progress(book.length, book.length);
}

async function enter(contract: DemoContract, presentId: string | undefined, desk: Desk): Promise<void> {
  const { input, lines, subject, owner, superior, bookkeeper } = contract;
  const seller = planeOf(desk, owner);
  if (presentId !== undefined && lines.every(({ later }) => later.length === 0)) return;
  const detail =
    presentId !== undefined
      ? await seller.getContract({ contractId: presentId })
      : await seller.createContract({
          ...input,
          subjectId: desk.ids.subject(subject.key),
          ownerId: desk.ids.member(owner),
          ownerSuperiorId: superior === null ? null : desk.ids.member(superior),
          payments: lines.map((line) => line.input),
        });
  const books = planeOf(desk, bookkeeper);
  for (const line of lines) await recordLater(line, detail, books);
}

/** Each receipt is a new total: the one that stands tells where to go on. One that is none of ours was recorded by a user and stays. */
async function recordLater({ input, later }: DemoLine, { payments }: ContractDetail, plane: Plane): Promise<void> {
  const line = payments.find(({ period }) => period === input.period);
  if (!line) return;
  const totals = [input, ...later].map(({ receivedAmount }) => receivedAmount ?? 0);
  const stands = totals.lastIndexOf(line.receivedAmount);
  if (stands < 0) return;
  for (const receipt of later.slice(stands)) await plane.recordReceipt({ paymentId: line.id, ...receipt });
}

/** Ids of the tenant's contracts by number. */
async function presentContracts(plane: Plane): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (let page = 1, pageCount = 1; page <= pageCount; page++) {
    const answer = await plane.listContracts({ page, pageSize: 200 });
    for (const { contractNo, id } of answer.items) ids.set(contractNo, id);
    pageCount = answer.pageCount;
  }
  return ids;
}

const TIMEOUT_MS = 60_000;

/** The data plane as the CLI uses it in the name of one of the demo's people: contracts at later stages are for who administers the workflow. */
function planeOf({ dataPlanes, tenant, ids }: Desk, key: string): Plane {
  const member = DEMO_MEMBERS.find((one) => one.key === key);
  const call: Call = {
    tenantId: tenant.id,
    requestId: newId(),
    timeoutMs: TIMEOUT_MS,
    actor: { kind: 'cli', id: ids.member(key), name: member?.name ?? key, roleCode: member?.roleCode ?? null, ip: null },
    subjectScope: null,
    ownerScope: null,
    controls: Object.fromEntries(WORKFLOW_STAGES.map((stage) => [stage, 'admin' as const])),
    rights: ALL_RIGHTS,
    timeZone: tenant.timeZone,
    today: tenant.day,
    reminderLeadDays: 7,
    currencyCode: 'CNY',
    language: 'en',
    idempotency: null,
    ifVersion: null,
  };
  return bind(dataPlanes.forTenant(tenant.id), OPERATION_NAMES, call);
}
