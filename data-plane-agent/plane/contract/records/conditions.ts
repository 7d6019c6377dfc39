import { s, type Static } from '../../../base/schema.js';
import { CONTRACT_STATUSES, FILE_KINDS } from '../vocabulary.js';

/** A code of the contract configuration (API document 2.16). */
export const CODE_PATTERN = '^[a-z][a-z0-9_]{1,63}$';
export const code = (about?: string) =>
  s.text({ max: 64, pattern: CODE_PATTERN, ...(about === undefined ? {} : { about }) });

const amount = (about: string) => s.optional(s.amount(about));

/** What must hold before a contract moves. All that are given must; a flag that is `false` asks for nothing. */
export const Conditions = s.object(
  {
    requireFields: s.optional(
      s.list(
        s.text({ max: 100 }),
        100,
        'Fields of a contract that must have a value, `dynamicFields.<id>` for a custom one; a list must have an element.',
      ),
    ),
    requireFileKinds: s.optional(
      s.list(
        s.enum(FILE_KINDS),
        FILE_KINDS.length,
        'Kinds of which the contract must have a file, its `contractAttachment` included.',
      ),
    ),
    requireAllPaid: s.optional(
      s.flag('`paymentStatus` must be `paid`: a contract without payment lines is not, unless its total is 0.'),
    ),
    requireTasksDone: s.optional(
      s.flag('Every fulfillment task must be completed or accepted; canceled ones do not count.'),
    ),
    requireNote: s.optional(s.flag('The move must carry a note.')),
    minAmount: amount("`totalAmount` must be at least this, in the contract's own currency."),
    maxAmount: amount("`totalAmount` must be at most this, in the contract's own currency."),
    forbidSelfApproval: s.optional(s.flag('The mover must be neither who entered the contract nor who moved it last.')),
  },
  { title: 'LifecycleConditions' },
);
export type Conditions = Static<typeof Conditions>;

/** The dates of a contract that a move may set. */
export const DATE_FIELDS = ['signDate', 'startDate', 'endDate'] as const;

const CreateTask = s.object(
  {
    code: s.name({ max: 100, about: 'A contract that has a task of this code keeps that one, and the move warns.' }),
    title: s.plain(),
    kind: s.optional(s.plain({ max: 100 })),
    dueInDays: s.optional(
      s.integer({ max: 3_650, about: 'Days from the day of the move; without it the task has no due date.' }),
    ),
    ownerId: s.optional(s.id("An active member; default: the contract's owner.")),
  },
  { title: 'LifecycleTask' },
);

/** What a move does beside entering its stage, in the same transaction. */
export const Effects = s.object(
  {
    setStatus: s.optional(s.enum(CONTRACT_STATUSES)),
    setLocked: s.optional(s.flag("Instead of what the stage's `locksCoreFields` says.")),
    setFieldToday: s.optional(
      s.list(
        s.enum(DATE_FIELDS),
        DATE_FIELDS.length,
        '`signDate` keeps a date that it has; `startDate` and `endDate` are set anew.',
      ),
    ),
    notifyChannelId: s.optional(s.id('A notification channel, which is told of the move once it is made.')),
    createTask: s.optional(CreateTask),
  },
  { title: 'LifecycleEffects' },
);
export type Effects = Static<typeof Effects>;
