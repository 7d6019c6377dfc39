import { expect } from 'chai';
import fc from 'fast-check';
import { addDays } from '../../data-plane-agent/base/day.js';
import { EVERY, PART } from '../../data-plane-agent/plane/tables/rollups.js';
import {
  Entries,
  type RollupContract,
  type RollupLine,
} from '../../data-plane-agent/plane/domain/analytics/rollups.js';

const contract: RollupContract = {
  id: 'c',
  subjectId: 's',
  ownerId: 'o',
  ownerSuperiorId: 'p',
  currencyCode: 'CNY',
  type: 'sale',
  typeCode: null,
  status: 'in_progress',
  statusCode: null,
  stageCategory: 'draft',
  stageCode: 'draft',
  nextDueDate: null,
  paymentStatus: 'unpaid',
  totalMinor: 5,
  outstandingMinor: 5,
  otherCurrencyLines: 0,
  deletedAt: null,
};
const line: RollupLine = {
  id: 'l',
  contractId: 'c',
  dueDate: '2026-03-15',
  currencyCode: 'CNY',
  amountMinor: 5 * PART + 7,
  receivedMinor: 0,
  outstandingMinor: 5 * PART + 7,
  receivedDate: null,
  reconciliationStatus: 'pending',
  invoiceDate: null,
  invoicedMinor: 0,
  uninvoicedMinor: 0,
  invoiceRecords: 0,
  deletedAt: null,
};

describe('the rollup entries of changes', () => {
  it('are for all contracts, the subject company, and its owner and superior', () => {
    const entries = new Entries();
    entries.line(contract, line, 1);
    expect(entries.days().map(({ key }) => key.slice(0, 2))).to.deep.equal([
      [EVERY, EVERY],
      [EVERY, 's'],
      ['o', 's'],
      ['p', 's'],
    ]);
    expect(entries.days()[0]?.figures).to.deep.include({
      lines: 1,
      to_invoice: 0,
      amount_high: 5,
      amount_low: 7,
      outstanding_high: 5,
      outstanding_low: 7,
    });
  });

  it('list members who are their own superior once', () => {
    const entries = new Entries();
    entries.line({ ...contract, ownerSuperiorId: 'o' }, line, 1);
    expect(entries.days()).to.have.length(3);
  });

  it('count contracts by all values of a list, whatever their codes contain', () => {
    const entries = new Entries();
    entries.contract({ ...contract, typeCode: 'x', statusCode: 'in_progress y' }, 1);
    entries.contract({ ...contract, typeCode: 'x in_progress', statusCode: 'y' }, 1);
    entries.contract({ ...contract, typeCode: 'x in_progress', statusCode: 'y' }, 1);
    const [increments, ...others] = entries.increments();
    expect(others).to.deep.equal([]);
    expect(increments?.contracts.map(({ of, contracts: count }) => [of.typeCode, of.statusCode, count])).to.deep.equal([
      ['x', 'in_progress y', 1],
      ['x in_progress', 'y', 2],
    ]);
  });

  it('cancel out when a state is removed and added again', () => {
    const entries = new Entries();
    for (const sign of [-1, 1] as const) {
      entries.contract(contract, sign);
      entries.line(contract, line, sign);
    }
    expect([...entries.days(), ...entries.groups()]).to.deep.equal([]);
  });

  // Writers lock rows in this order; different orders could deadlock.
  it('have one order, whatever the order of the changes', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            days: fc.nat({ max: 900 }),
            owner: fc.constantFrom('a', 'o', 'z'),
            subject: fc.constantFrom('q', 's'),
            code: fc.constantFrom('CNY', 'JPY'),
          }),
          { minLength: 2, maxLength: 20 },
        ),
        (reported) => {
          const rows = (list: typeof reported) => {
            const entries = new Entries();
            for (const { days, owner, subject, code } of list) {
              entries.contract({ ...contract, ownerId: owner, subjectId: subject }, 1);
              entries.line(
                { ...contract, ownerId: owner, subjectId: subject },
                { ...line, currencyCode: code, dueDate: addDays('2026-01-01', days) },
                1,
              );
            }
            return { days: entries.days(), groups: entries.groups() };
          };
          const found = rows(reported);
          expect(rows(reported.toReversed())).to.deep.equal(found);
          const keys = found.days.map(({ key }) => key.join(' '));
          expect(keys).to.deep.equal([...new Set(keys)].toSorted());
        },
      ),
    );
  });
});
