import { expect } from 'chai';
import fc from 'fast-check';
import {
  decide,
  MOST_AUTOMATIC,
  nextRung,
  type Decided,
  type SweptLine,
} from '../../data-plane-agent/plane/domain/collections/decide.js';
import { ladder, type Rung } from '../../data-plane-agent/plane/domain/collections/ladder.js';

const shown = ({ step, occurrence, after }: Rung) => `${after} ${step}${occurrence > 1 ? ` ${occurrence}` : ''}`;
const aLine = (changes: Partial<SweptLine> = {}): SweptLine => ({
  daysPast: 0,
  createdAfter: -365,
  decided: [],
  isRemindedToday: false,
  obstacle: null,
  ...changes,
});
const sent = (step: Decided['step'], occurrence = 1): Decided => ({ step, occurrence, status: 'sent', reason: null });

describe('the ladder of reminders', () => {
  const cases: readonly [string, Parameters<typeof ladder>[0], string][] = [
    [
      'with the default settings',
      { leadDays: 7, escalationDays: 7 },
      '-7 pre_due, 0 due_day, 1 overdue_1, 7 escalated, 14 escalated 2, 21 escalated 3, 28 escalated 4, 35 escalated 5, 42 escalated 6, 49 escalated 7, 56 escalated 8, 63 escalated 9, 70 escalated 10, 77 escalated 11, 84 escalated 12, 90 final',
    ],
    ['without a lead and without escalation', { leadDays: 0, escalationDays: 0 }, '0 due_day, 1 overdue_1, 90 final'],
    [
      'escalates on the second day, not on that of overdue_1',
      { leadDays: 1, escalationDays: 1 },
      '-1 pre_due, 0 due_day, 1 overdue_1, 2 escalated, 9 escalated 2, 16 escalated 3, 23 escalated 4, 30 escalated 5, 37 escalated 6, 44 escalated 7, 51 escalated 8, 58 escalated 9, 65 escalated 10, 72 escalated 11, 79 escalated 12, 86 escalated 13, 90 final',
    ],
    [
      'repeats as seldom as it escalates',
      { leadDays: 90, escalationDays: 40 },
      '-90 pre_due, 0 due_day, 1 overdue_1, 40 escalated, 80 escalated 2, 90 final',
    ],
    [
      'has no escalation on the day of the last reminder',
      { leadDays: 3, escalationDays: 90 },
      '-3 pre_due, 0 due_day, 1 overdue_1, 90 final',
    ],
  ];
  for (const [what, rules, expected] of cases)
    it(what, () => expect(ladder(rules).map(shown).join(', ')).to.equal(expected));
});

describe('the decision of a sweep about a line', () => {
  const rungs = ladder({ leadDays: 7, escalationDays: 7 });
  const decisions = (changes: Partial<SweptLine>) =>
    decide(rungs, aLine(changes)).map(
      ({ step, occurrence, status, reason, isNew }) =>
        `${step}${occurrence > 1 ? ` ${occurrence}` : ''}: ${status}${reason === null ? '' : ` ${reason}`}${isNew ? '' : ' again'}`,
    );

  it('is none before the first step, and none when the step is decided', () => {
    expect(decisions({ daysPast: -8 })).to.deep.equal([]);
    expect(decisions({ daysPast: -5, decided: [sent('pre_due')] })).to.deep.equal([]);
    expect(decisions({ daysPast: 400, decided: [sent('final')] })).to.deep.equal([]);
  });

  it('is the latest step whose day has come', () => {
    expect(decisions({ daysPast: -7 })).to.deep.equal(['pre_due: queued']);
    expect(decisions({ daysPast: 0, decided: [sent('pre_due')] })).to.deep.equal(['due_day: queued']);
    expect(decisions({ daysPast: 16, createdAfter: 15 })).to.deep.equal(['escalated 2: queued']);
  });

  it('supersedes the steps missed since the last decision, but none from before the line was created', () => {
    expect(decisions({ daysPast: 8, decided: [sent('pre_due')] })).to.deep.equal([
      'due_day: superseded SUPERSEDED',
      'overdue_1: superseded SUPERSEDED',
      'escalated: queued',
    ]);
    expect(decisions({ daysPast: 15, createdAfter: 1 })).to.deep.equal([
      'overdue_1: superseded SUPERSEDED',
      'escalated: superseded SUPERSEDED',
      'escalated 2: queued',
    ]);
    expect(decisions({ daysPast: 1_000, createdAfter: 990 })).to.deep.equal(['final: queued']);
  });

  for (const obstacle of ['HELD', 'BEFORE_STAGE', 'NO_CHANNEL', 'CHANNEL_DISABLED'] as const)
    it(`skips a step because of ${obstacle}, and takes it up once the obstacle is gone`, () => {
      expect(decisions({ daysPast: 0, decided: [sent('pre_due')], obstacle })).to.deep.equal([
        `due_day: skipped ${obstacle}`,
      ]);
      const decided: Decided[] = [
        sent('pre_due'),
        { step: 'due_day', occurrence: 1, status: 'skipped', reason: obstacle },
      ];
      expect(decisions({ daysPast: 0, decided, obstacle })).to.deep.equal([]);
      expect(decisions({ daysPast: 0, decided })).to.deep.equal(['due_day: queued again']);
      expect(decisions({ daysPast: 1, decided })).to.deep.equal(['overdue_1: queued']);
    });

  it('skips a step for good on a day on which somebody sent a reminder by hand', () => {
    expect(decisions({ daysPast: 0, decided: [sent('pre_due')], isRemindedToday: true })).to.deep.equal([
      'due_day: skipped REMINDED_TODAY',
    ]);
    const decided: Decided[] = [{ step: 'due_day', occurrence: 1, status: 'skipped', reason: 'REMINDED_TODAY' }];
    expect(decisions({ daysPast: 0, decided })).to.deep.equal([]);
  });

  it('sends ten automatic reminders and, beyond them, the final one', () => {
    const before: Decided[] = [sent('pre_due'), sent('due_day'), sent('overdue_1')];
    const escalated = Array.from({ length: 7 }, (_, i) => sent('escalated', i + 1));
    const decided = [...before, ...escalated];
    expect(decided).to.have.length(MOST_AUTOMATIC);
    expect(decisions({ daysPast: 56, decided })).to.deep.equal(['escalated 8: skipped LIMIT_REACHED']);
    expect(decisions({ daysPast: 90, createdAfter: 89, decided })).to.deep.equal(['final: queued']);
  });

  it('never decides twice on a step, whatever days are left out and whatever stands in the way', () => {
    const day = fc.record({
      skip: fc.integer({ min: 0, max: 30 }),
      obstacle: fc.constantFrom(null, null, null, 'HELD' as const, 'NO_CHANNEL' as const),
      isRemindedToday: fc.boolean(),
    });
    const rules = fc.record({
      leadDays: fc.integer({ min: 0, max: 90 }),
      escalationDays: fc.integer({ min: 0, max: 90 }),
    });
    fc.assert(
      fc.property(
        rules,
        fc.integer({ min: -200, max: 120 }),
        fc.array(day, { maxLength: 60 }),
        (given, createdAfter, days) => {
          const steps = ladder(given);
          const known = new Map<string, Decided>();
          let daysPast = createdAfter;
          let queued = 0;
          for (const { skip, obstacle, isRemindedToday } of days) {
            daysPast += skip;
            const line = { daysPast, createdAfter, decided: [...known.values()], isRemindedToday, obstacle };
            for (const [i, { step, occurrence, status, reason, isNew }] of decide(steps, line).entries()) {
              const key = `${step} ${occurrence}`;
              expect(known.has(key), key).to.equal(!isNew);
              expect(status === 'superseded').to.equal(i < decide(steps, line).length - 1);
              if (!isNew)
                expect([
                  known.get(key)?.status,
                  status,
                  reason === null || reason === 'REMINDED_TODAY' || reason === 'LIMIT_REACHED',
                ]).to.deep.equal(['skipped', status, true]);
              if (status === 'queued') queued += 1;
              known.set(key, { step, occurrence, status: status === 'queued' ? 'sent' : status, reason });
            }
            // A second sweep of the same day has nothing to do.
            expect(decide(steps, { ...line, decided: [...known.values()] })).to.deep.equal([]);
            const next = nextRung(steps, { daysPast, decided: [...known.values()] });
            if (obstacle === null) expect(next === undefined || next.after > daysPast).to.equal(true);
          }
          expect(queued).to.be.at.most(MOST_AUTOMATIC + 1);
        },
      ),
    );
  });
});
