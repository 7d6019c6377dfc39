import { addDays, daysBetween, instantOf, type Day } from '../../../base/day.js';
import { fail } from '../../../base/failures.js';
import type { Task, TaskInput, TaskPatch } from '../../contract/records/tasks.js';
import type { FulfillmentStatus, TaskStatus } from '../../contract/vocabulary.js';
import { uniqueKey } from '../unique-key.js';
import { iso, isoOrNull } from '../../../base/instants.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { TaskRow } from '../../tables/tasks.js';

/** The allowed status changes. A change from `accepted` requires the control `admin` at the contract's stage. */
const TASK_MOVES: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  pending: ['in_progress', 'completed', 'blocked', 'canceled', 'overdue'],
  in_progress: ['pending', 'completed', 'blocked', 'canceled', 'overdue'],
  blocked: ['pending', 'in_progress', 'canceled', 'overdue'],
  overdue: ['in_progress', 'completed', 'blocked', 'canceled', 'pending'],
  completed: ['accepted', 'in_progress'],
  accepted: ['in_progress'],
  canceled: ['pending'],
};

/** The context in which a task is created or changed. */
export interface TaskContext {
  readonly today: Day;
  readonly now: number;
  readonly actorId: string | null;
}

/** A new task, in any status. */
export function newTask(
  input: TaskInput,
  place: { readonly id: string; readonly contractId: string },
  context: TaskContext,
): TaskRow {
  const { now, actorId } = context;
  const blank: TaskRow = {
    ...place,
    code: input.code,
    codeKey: uniqueKey(input.code),
    title: input.title,
    kind: input.kind ?? null,
    status: 'pending',
    ownerId: input.ownerId ?? null,
    dueDate: input.dueDate ?? null,
    acceptanceStatus: input.acceptanceStatus ?? null,
    attachment: input.attachment ?? null,
    metadata: input.metadata ?? null,
    startedAt: null,
    completedAt: null,
    acceptedAt: null,
    acceptedBy: null,
    createdAt: now,
    createdBy: actorId,
    updatedAt: now,
    updatedBy: actorId,
    deletedAt: null,
  };
  return moved(blank, input.status ?? 'pending', context);
}

/** The task after a PATCH. `null` sets the status to `pending`. */
export function patchedTask(row: TaskRow, patch: TaskPatch, context: TaskContext): TaskRow {
  const code = patch.code ?? row.code;
  const next: TaskRow = {
    ...row,
    code,
    codeKey: uniqueKey(code),
    title: patch.title ?? row.title,
    kind: given(patch.kind, row.kind),
    ownerId: given(patch.ownerId, row.ownerId),
    dueDate: given(patch.dueDate, row.dueDate),
    acceptanceStatus: given(patch.acceptanceStatus, row.acceptanceStatus),
    attachment: given(patch.attachment, row.attachment),
    metadata: given(patch.metadata, row.metadata),
    updatedAt: context.now,
    updatedBy: context.actorId,
  };
  const to = patch.status === undefined ? row.status : (patch.status ?? 'pending');
  if (to !== row.status) {
    const allowed = TASK_MOVES[row.status];
    if (!allowed.includes(to))
      throw fail('INVALID_TRANSITION', { field: 'status', from: row.status, to, allowed: [...allowed] });
    return moved(next, to, context);
  }
  const isBackInTime =
    row.status === 'overdue' &&
    next.dueDate !== row.dueDate &&
    (next.dueDate === null || next.dueDate >= context.today);
  return isBackInTime ? { ...next, status: row.startedAt === null ? 'pending' : 'in_progress' } : next;
}

/** Whether a change takes back an acceptance, which requires the workflow control `admin`. */
export const takesBackAcceptance = (before: TaskRow, after: TaskRow): boolean =>
  before.status === 'accepted' && after.status !== 'accepted';

/** The task marked overdue, if it was due before today; otherwise `undefined`. */
export function fallenDue(row: TaskRow, { today, now, actorId }: TaskContext): TaskRow | undefined {
  const isDue =
    (row.status === 'pending' || row.status === 'in_progress') && row.dueDate !== null && row.dueDate < today;
  return isDue ? { ...row, status: 'overdue', updatedAt: now, updatedBy: actorId } : undefined;
}

const DAY_MS = 86_400_000;
/** The earliest time zone is UTC+14. */
const EARLIEST_MS = 14 * 3_600_000;
/**
 * How often an open task is checked on the day on which it may fall overdue, in case the tenant's time zone has
 * changed.
 */
const ZONE_LOOK_MS = 3_600_000;

/** Whether a task can still become overdue. */
export const canFallDue = ({ status, dueDate, deletedAt }: TaskRow): boolean =>
  deletedAt === null && dueDate !== null && (status === 'pending' || status === 'in_progress');

/** The instant at which a day has ended in the earliest time zone; the tenant's time zone may still change. */
const overSomewhere = (day: Day): number => Date.parse(day) + DAY_MS - EARLIEST_MS;

/** When to check a new or changed task: one that was due before today is checked at the tenant's next midnight. */
export const firstOverdueLook = (
  dueDate: Day,
  { today, timeZone }: { readonly today: Day; readonly timeZone: string },
): number => (dueDate < today ? instantOf(addDays(today, 1), 0, timeZone) : overSomewhere(dueDate));

/**
 * When to check next, given the earliest due date of any task: at the tenant's midnight after it, and before that at
 * intervals, because the tenant's time zone may change.
 */
export function nextOverdueLook(
  firstDue: Day,
  { today, timeZone, now }: { readonly today: Day; readonly timeZone: string; readonly now: number },
): number {
  if (firstDue < today) return now;
  const earliest = overSomewhere(firstDue);
  return earliest > now ? earliest : Math.min(instantOf(addDays(firstDue, 1), 0, timeZone), now + ZONE_LOOK_MS);
}

type TaskState = Pick<ContractRow, 'tasksLive' | 'tasksDone' | 'tasksInTimeUntil'>;

/** The contract with the totals of its tasks. Every change of a task writes them in the same transaction. */
export const withTasks = (row: ContractRow, tasks: readonly TaskRow[]): ContractRow => ({
  ...row,
  ...taskState(tasks),
});

export function taskState(tasks: readonly TaskRow[]): TaskState {
  const live = tasks.filter(({ status }) => status !== 'canceled');
  const inTime = live.filter((task) => !isDone(task)).map(lastDayInTime);
  return {
    tasksLive: live.length,
    tasksDone: live.filter(isDone).length,
    tasksInTimeUntil: inTime.length === 0 ? null : inTime.reduce((last, day) => (day > last ? day : last)),
  };
}

/** The fulfillment status on a day. `lapsed`: every open task is overdue. Canceled tasks do not count. */
export function fulfillmentStatus(
  { tasksLive, tasksDone, tasksInTimeUntil }: TaskState,
  today: Day,
): FulfillmentStatus {
  if (tasksLive === 0) return 'none';
  if (tasksInTimeUntil === null) return 'fulfilled';
  if (tasksInTimeUntil < today) return 'lapsed';
  return tasksDone === 0 ? 'unfulfilled' : 'partial';
}

/** Whether nothing changed: then nothing is written. */
export const isSameTask = (before: TaskRow, after: TaskRow): boolean =>
  (Object.keys(after) as (keyof TaskRow)[]).every(
    (field) =>
      field === 'updatedAt' ||
      field === 'updatedBy' ||
      before[field] === after[field] ||
      (field === 'metadata' && JSON.stringify(before.metadata) === JSON.stringify(after.metadata)),
  );

export function taskAnswer(row: TaskRow, { today }: Pick<TaskContext, 'today'>): Task {
  const isOpen = !isDone(row) && row.status !== 'canceled';
  const daysOverdue = isOpen && row.dueDate !== null ? Math.max(0, daysBetween(row.dueDate, today)) : 0;
  return {
    id: row.id,
    contractId: row.contractId,
    code: row.code,
    title: row.title,
    kind: row.kind,
    status: row.status,
    ownerId: row.ownerId,
    dueDate: row.dueDate,
    acceptanceStatus: row.acceptanceStatus,
    attachment: row.attachment,
    metadata: row.metadata,
    isOverdue: row.status === 'overdue' || daysOverdue > 0,
    daysOverdue,
    startedAt: isoOrNull(row.startedAt),
    completedAt: isoOrNull(row.completedAt),
    acceptedAt: isoOrNull(row.acceptedAt),
    acceptedBy: row.acceptedBy,
    createdBy: row.createdBy,
    updatedBy: row.updatedBy,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

/**
 * Changes the status, and sets or clears the timestamps accordingly: a pending task has not started, a reworked one is
 * not completed.
 */
function moved(row: TaskRow, status: TaskStatus, { now, actorId }: TaskContext): TaskRow {
  switch (status) {
    case 'pending':
      return { ...row, status, startedAt: null, completedAt: null, acceptedAt: null, acceptedBy: null };
    case 'in_progress':
      return { ...row, status, startedAt: row.startedAt ?? now, completedAt: null, acceptedAt: null, acceptedBy: null };
    case 'completed':
      return { ...row, status, completedAt: now };
    case 'accepted':
      return { ...row, status, completedAt: row.completedAt ?? now, acceptedAt: now, acceptedBy: actorId };
    case 'blocked':
    case 'canceled':
    case 'overdue':
      return { ...row, status };
  }
}

const isDone = ({ status }: TaskRow): boolean => status === 'completed' || status === 'accepted';

/** Days compare as text: the first value is before all days, the last after all. */
const lastDayInTime = ({ status, dueDate }: TaskRow): Day =>
  status === 'overdue' ? '0000-00-00' : (dueDate ?? '9999-12-31');

/** `undefined` leaves a field as it is, `null` clears it. */
const given = <T>(value: T | undefined, present: T): T => (value === undefined ? present : value);
