import { expect } from 'chai';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { TASK_STATUSES, type TaskStatus } from '../../data-plane-agent/plane/contract/vocabulary.js';
import {
  fallenDue,
  fulfillmentStatus,
  newTask,
  patchedTask,
  taskAnswer,
  taskState,
} from '../../data-plane-agent/plane/domain/tasks/tasks.js';

const TODAY = '2026-03-15';
const actor = { today: TODAY, now: 2_000, actorId: 'who' };
const task = (status: TaskStatus, dueDate: string | null = null) =>
  newTask(
    { code: 'T', title: 'Task', status, dueDate },
    { id: `${status} ${dueDate}`, contractId: 'c' },
    { today: TODAY, now: 1_000, actorId: 'maker' },
  );

/** The transitions of the specification. */
const TABLE: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  pending: ['in_progress', 'completed', 'blocked', 'canceled', 'overdue'],
  in_progress: ['pending', 'completed', 'blocked', 'canceled', 'overdue'],
  blocked: ['pending', 'in_progress', 'canceled', 'overdue'],
  overdue: ['in_progress', 'completed', 'blocked', 'canceled', 'pending'],
  completed: ['accepted', 'in_progress'],
  accepted: ['in_progress'],
  canceled: ['pending'],
};

describe('a fulfillment task', () => {
  for (const from of TASK_STATUSES) {
    for (const to of TASK_STATUSES) {
      const isAllowed = from === to || TABLE[from].includes(to);
      it(`${isAllowed ? 'goes' : 'does not go'} from ${from} to ${to}`, () => {
        if (isAllowed) {
          expect(patchedTask(task(from), { status: to }, actor).status).to.equal(to);
          return;
        }
        let refused: unknown;
        try {
          patchedTask(task(from), { status: to }, actor);
        } catch (error) {
          refused = error;
        }
        expect(isFailure(refused, 'INVALID_TRANSITION') && refused.details).to.deep.equal({
          field: 'status',
          from,
          to,
          allowed: TABLE[from],
        });
      });
    }
  }

  it('has the timestamps of its status, also when created in it', () => {
    const stamps = (status: TaskStatus) =>
      (({ startedAt, completedAt, acceptedAt, acceptedBy }) => [startedAt, completedAt, acceptedAt, acceptedBy])(
        task(status),
      );
    expect(TASK_STATUSES.map((status) => [status, ...stamps(status)])).to.deep.equal([
      ['pending', null, null, null, null],
      ['in_progress', 1_000, null, null, null],
      ['completed', null, 1_000, null, null],
      ['accepted', null, 1_000, 1_000, 'maker'],
      ['blocked', null, null, null, null],
      ['canceled', null, null, null, null],
      ['overdue', null, null, null, null],
    ]);
  });

  it('keeps its first start time when reworked, and is completed again', () => {
    const at = (now: number) => ({ ...actor, now });
    const begun = patchedTask(task('pending'), { status: 'in_progress' }, at(10));
    const done = patchedTask(begun, { status: 'completed' }, at(20));
    const reworked = patchedTask(done, { status: 'in_progress' }, at(30));
    expect([reworked.startedAt, reworked.completedAt]).to.deep.equal([10, null]);
    const accepted = patchedTask(
      patchedTask(reworked, { status: 'completed' }, at(40)),
      { status: 'accepted' },
      at(50),
    );
    expect([accepted.startedAt, accepted.completedAt, accepted.acceptedAt, accepted.acceptedBy]).to.deep.equal([
      10,
      40,
      50,
      'who',
    ]);
    const taken = patchedTask(accepted, { status: 'in_progress' }, at(60));
    expect([taken.startedAt, taken.completedAt, taken.acceptedAt, taken.acceptedBy]).to.deep.equal([
      10,
      null,
      null,
      null,
    ]);
    expect(patchedTask(taken, { status: 'pending' }, at(70)).startedAt).to.equal(null);
  });

  it('is no longer overdue after its due date moves to today or later, or is cleared', () => {
    const begun = { ...task('overdue', '2026-03-01'), startedAt: 5 };
    const back = (row: typeof begun | ReturnType<typeof task>, patch: Parameters<typeof patchedTask>[1]) =>
      patchedTask(row, patch, actor).status;
    expect(back(begun, { dueDate: '2026-04-01' })).to.equal('in_progress');
    expect(back(task('overdue', '2026-03-01'), { dueDate: '2026-04-01' })).to.equal('pending');
    expect(back(task('overdue', '2026-03-01'), { dueDate: TODAY })).to.equal('pending');
    expect(back(task('overdue', '2026-03-01'), { dueDate: null })).to.equal('pending');
    expect(
      back(task('overdue', '2026-03-01'), { dueDate: '2026-04-01', status: 'overdue' }),
      'repeating the status is like omitting it',
    ).to.equal('pending');
    expect(back(task('overdue', '2026-03-01'), { dueDate: '2026-04-01', status: 'blocked' })).to.equal('blocked');
    expect(back(task('overdue', '2026-03-01'), { dueDate: '2026-03-14' })).to.equal('overdue');
    expect(back(task('overdue', '2026-04-01'), { dueDate: '2026-04-01' }), 'an unchanged date').to.equal('overdue');
    expect(back(task('completed', '2026-03-01'), { dueDate: '2026-04-01' })).to.equal('completed');
  });

  it('becomes overdue if it is pending or in progress after its due date', () => {
    const fallen = TASK_STATUSES.filter((status) => fallenDue(task(status, '2026-03-14'), actor)?.status === 'overdue');
    expect(fallen).to.deep.equal(['pending', 'in_progress']);
    expect([fallenDue(task('pending', TODAY), actor), fallenDue(task('pending'), actor)]).to.deep.equal([
      undefined,
      undefined,
    ]);
  });

  it('reports the days overdue as long as it is open', () => {
    const shown = (status: TaskStatus, dueDate: string | null) =>
      (({ isOverdue, daysOverdue }) => [isOverdue, daysOverdue])(taskAnswer(task(status, dueDate), actor));
    expect(shown('pending', '2026-03-12')).to.deep.equal([true, 3]);
    expect(shown('blocked', '2026-03-12')).to.deep.equal([true, 3]);
    expect(shown('overdue', '2026-04-01')).to.deep.equal([true, 0]);
    expect(shown('overdue', null)).to.deep.equal([true, 0]);
    expect(shown('pending', TODAY)).to.deep.equal([false, 0]);
    for (const status of ['completed', 'accepted', 'canceled'] as const)
      expect(shown(status, '2026-03-12'), status).to.deep.equal([false, 0]);
  });
});

describe('the task status of a contract', () => {
  const status = (...tasks: ReturnType<typeof task>[]) => fulfillmentStatus(taskState(tasks), TODAY);

  it('is none without tasks, and ignores canceled ones', () => {
    expect([status(), status(task('canceled', '2026-01-01'))]).to.deep.equal(['none', 'none']);
    expect(status(task('canceled'), task('completed'))).to.equal('fulfilled');
  });

  it('is fulfilled when all are completed or accepted, and partial when some are', () => {
    expect(status(task('completed'), task('accepted'))).to.equal('fulfilled');
    expect(status(task('completed'), task('pending'))).to.equal('partial');
    expect(status(task('pending'), task('blocked'))).to.equal('unfulfilled');
  });

  it('is lapsed if a task is overdue and no open task is on time', () => {
    expect(status(task('pending', '2026-03-14'))).to.equal('lapsed');
    expect(status(task('overdue'))).to.equal('lapsed');
    expect(status(task('overdue', '2026-12-31')), 'whatever its date').to.equal('lapsed');
    expect(status(task('completed'), task('blocked', '2026-03-14'))).to.equal('lapsed');
    expect(status(task('pending', '2026-03-14'), task('pending', TODAY))).to.equal('unfulfilled');
    expect(status(task('pending', '2026-03-14'), task('pending'))).to.equal('unfulfilled');
    expect(status(task('overdue'), task('in_progress', TODAY), task('completed'))).to.equal('partial');
  });
});
