import { s, type Static } from '../../../base/schema.js';
import { CONTRACT_STATUSES, FILE_KINDS } from '../vocabulary.js';

/** A code of the contract configuration (API document 2.16). */
export const CODE_PATTERN = '^[a-z][a-z0-9_]{1,63}$';
export const code = (about?: string) =>
  s.text({ max: 64, pattern: CODE_PATTERN, ...(about === undefined ? {} : { about }) });

const amount = (about: string) => s.optional(s.amount(about));

/** The conditions of a transition. All that are given must be met; a flag that is `false` has no effect. */
export const Conditions = s.object(
  {
    requireFields: s.optional(
      s.list(
        s.text({ max: 100 }),
        100,
        'Fields of a contract that must have a value; `dynamicFields.<id>` for a custom field. A list must not be empty.',
      ),
    ),
    requireFileKinds: s.optional(
      s.list(
        s.enum(FILE_KINDS),
        FILE_KINDS.length,
        'Kinds of files that the contract must have; `contractAttachment` counts as a file.',
      ),
    ),
    requireAllPaid: s.optional(
      s.flag('`paymentStatus` must be `paid`; a contract without payment lines is paid only if its total is 0.'),
    ),
    requireTasksDone: s.optional(
      s.flag('Every fulfillment task must be completed or accepted; canceled ones are ignored.'),
    ),
    requireNote: s.optional(s.flag('The transition must have a note.')),
    minAmount: amount("`totalAmount` must be at least this, in the contract's own currency."),
    maxAmount: amount("`totalAmount` must be at most this, in the contract's own currency."),
    forbidSelfApproval: s.optional(
      s.flag('The caller must be neither the creator of the contract nor the user of its last transition.'),
    ),
  },
  { title: 'LifecycleConditions' },
);
export type Conditions = Static<typeof Conditions>;

/** The date fields of a contract that a transition may set. */
export const DATE_FIELDS = ['signDate', 'startDate', 'endDate'] as const;

const CreateTask = s.object(
  {
    code: s.name({
      max: 100,
      about: 'If the contract already has a task with this code, none is added, and the response has a warning.',
    }),
    title: s.plain(),
    kind: s.optional(s.plain({ max: 100 })),
    dueInDays: s.optional(
      s.integer({ max: 3_650, about: 'Days from the day of the transition; if omitted, the task has no due date.' }),
    ),
    ownerId: s.optional(s.id("An active member; default: the contract's owner.")),
  },
  { title: 'LifecycleTask' },
);

/** The effects of a transition besides entering the stage, in the same transaction. */
export const Effects = s.object(
  {
    setStatus: s.optional(s.enum(CONTRACT_STATUSES)),
    setLocked: s.optional(s.flag("Overrides the stage's `locksCoreFields`.")),
    setFieldToday: s.optional(
      s.list(
        s.enum(DATE_FIELDS),
        DATE_FIELDS.length,
        '`signDate` is set only if empty; `startDate` and `endDate` are overwritten.',
      ),
    ),
    notifyChannelId: s.optional(s.id('A notification channel, which is notified after the transition.')),
    createTask: s.optional(CreateTask),
  },
  { title: 'LifecycleEffects' },
);
export type Effects = Static<typeof Effects>;
