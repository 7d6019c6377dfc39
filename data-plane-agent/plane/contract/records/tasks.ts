import { s, partial, type Static } from '../../../base/schema.js';
import { TASK_STATUSES } from '../vocabulary.js';
import { stamps } from './common.js';

/** The maximum number of fulfillment tasks of one contract. */
export const MAX_TASKS = 500;

/** A fulfillment task as a client sends it (API document 2.11). */
export const TaskInput = s.object(
  {
    code: s.name({ max: 100, about: 'Unique in the contract, ignoring case.' }),
    title: s.plain(),
    kind: s.optional(
      s.plain({ max: 100, about: 'For example delivery, installation, debug, training, acceptance, return, other.' }),
    ),
    status: s.optional(s.enum(TASK_STATUSES, 'Default: `pending`.')),
    ownerId: s.optional(s.id('The member responsible for the task.')),
    dueDate: s.optional(s.day()),
    acceptanceStatus: s.optional(s.plain({ max: 100, about: 'For example not_required, pending, passed, rejected.' })),
    attachment: s.optional(s.plain({ about: "A file's id, or any other text that points to the evidence." })),
    metadata: s.optional(s.free('Free-form data. A change replaces the whole object.')),
  },
  { title: 'FulfillmentTaskInput' },
);
export type TaskInput = Static<typeof TaskInput>;

export const TaskPatch = partial(TaskInput, { title: 'FulfillmentTaskPatch' });
export type TaskPatch = Static<typeof TaskPatch>;

const taskProperties = {
  id: s.id(),
  contractId: s.id(),
  code: s.text({ max: 100 }),
  title: s.text(),
  kind: s.nullable(s.text({ max: 100 })),
  status: s.enum(TASK_STATUSES),
  ownerId: s.nullable(s.id()),
  dueDate: s.nullable(s.day()),
  acceptanceStatus: s.nullable(s.text({ max: 100 })),
  attachment: s.nullable(s.text()),
  metadata: s.nullable(s.free()),
  isOverdue: s.flag('True if the task is open and its due date has passed or its status is `overdue`.'),
  daysOverdue: s.integer({ max: 4_000_000 }),
  startedAt: s.nullable(s.instant()),
  completedAt: s.nullable(s.instant()),
  acceptedAt: s.nullable(s.instant()),
  acceptedBy: s.nullable(s.id()),
  createdBy: s.nullable(s.id()),
  updatedBy: s.nullable(s.id()),
  ...stamps,
};

/** A fulfillment task in a response. */
export const Task = s.object(taskProperties, { title: 'FulfillmentTask' });
export type Task = Static<typeof Task>;

export const TaskResult = s.object(
  {
    ...taskProperties,
    contractVersion: s.integer({
      min: 1,
      max: Number.MAX_SAFE_INTEGER,
      about: 'The current version of the contract, for `If-Match`.',
    }),
  },
  { title: 'FulfillmentTaskResult' },
);
export type TaskResult = Static<typeof TaskResult>;
