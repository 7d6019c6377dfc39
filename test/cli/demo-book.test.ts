import { expect } from 'chai';
import { addDays, daysBetween } from '../../data-plane-agent/base/day.js';
import { demoBook, type DemoContract } from '../../cli/demo/book.js';
import { DEMO_MEMBERS, DEMO_OWNER, DEMO_SUBJECTS } from '../../cli/demo/cast.js';
import type { DemoLine } from '../../cli/demo/lines.js';
import { BUILT_IN_ROLES } from '../../server/tenants/roles.js';

const today = '2026-03-15';
const linesOf = (book: readonly DemoContract[]): DemoLine[] => book.flatMap(({ lines }) => lines);
const received = ({ input, later }: DemoLine): number => (later.at(-1) ?? input).receivedAmount ?? 0;
const isOverdue = (line: DemoLine, on: string): boolean => line.input.dueDate < on && received(line) < line.input.amount;

describe('the demo book', () => {
  const book = demoBook(today);
  const lines = linesOf(book);

  it('has 300 contracts with 3 000 payment lines in three currencies, of three companies and twelve people in all seven roles', () => {
    expect(book).to.have.length(300);
    expect(lines).to.have.length(3_000);
    expect(new Set(book.map(({ input }) => input.currencyCode))).to.deep.equal(new Set(['CNY', 'EUR', 'JPY']));
    expect(new Set(book.map(({ subject }) => subject.key))).to.deep.equal(new Set(DEMO_SUBJECTS.map(({ key }) => key)));
    expect(DEMO_MEMBERS).to.have.length(12);
    expect(new Set(DEMO_MEMBERS.map(({ roleCode }) => roleCode))).to.deep.equal(new Set(BUILT_IN_ROLES.map(({ code }) => code)));
    expect(DEMO_MEMBERS.filter(({ roleCode }) => roleCode === 'owner')).to.deep.equal([DEMO_OWNER]);
  });

  it('has sales and leases at every stage', () => {
    expect(new Set(book.map(({ input }) => input.type))).to.deep.equal(new Set(['sale', 'lease']));
    expect(new Set(book.map(({ input }) => input.workflowStage))).to.deep.equal(new Set(['draft', 'extracted', 'review', 'approved', 'signed', 'active', 'completed', 'archived']));
  });

  it('has every sort of payment: settled, in parts, corrected, too much, too little, overdue, due soon; and invoices', () => {
    expect(lines.filter((line) => isOverdue(line, today)).length).to.be.within(60, 200);
    expect(lines.filter((line) => received(line) > 0 && received(line) < line.input.amount).length).to.be.above(15);
    expect(lines.filter((line) => received(line) > line.input.amount).length).to.be.above(15);
    expect(lines.filter(({ later }) => later.length > 0).length).to.be.above(60);
    expect(lines.filter(({ input, later }) => later.some(({ receivedAmount }) => (receivedAmount ?? 0) < (input.receivedAmount ?? 0))).length).to.be.above(10);
    expect(lines.filter((line) => line.input.dueDate >= today && line.input.dueDate <= addDays(today, 7) && received(line) < line.input.amount).length).to.be.above(10);
    expect(lines.filter(({ input }) => input.invoiceNo).length).to.be.above(1_000);
    expect(lines.filter(({ input }) => !input.invoiceNo).length).to.be.above(500);
  });

  it('spans three years', () => {
    const days = lines.map(({ input }) => input.dueDate).toSorted();
    expect(daysBetween(days[0] ?? '', days.at(-1) ?? '')).to.be.within(1_000, 1_130);
  });

  it('adds up: the lines of a contract make its total, and what a total differs from quantity and price is a discount', () => {
    for (const { input, lines: plan } of book) {
      expect(plan.reduce((sum, line) => sum + line.input.amount, 0), input.contractNo).to.equal(input.totalAmount);
      expect(input.totalAmount, input.contractNo).to.be.at.most(input.quantity * input.unitPrice);
      expect(plan.every((line) => Number.isInteger(line.input.amount)), input.contractNo).to.equal(true);
    }
  });

  it('repeats no contract number, no archive code, no period of a contract, no invoice number', () => {
    const unique = (values: readonly unknown[]) => expect(new Set(values).size).to.equal(values.length);
    unique(book.map(({ input }) => input.contractNo));
    unique(book.map(({ input }) => input.archiveCode));
    for (const { lines: plan } of book) unique(plan.map(({ input }) => input.period));
    unique(lines.flatMap(({ input }) => (input.invoiceNo ? [input.invoiceNo] : [])));
  });

  it('has told the future nothing: no receipt, invoice or signature is later than today', () => {
    for (const { input, lines: plan } of book) {
      expect((input.signDate ?? '') < today && input.startDate <= input.endDate, input.contractNo).to.equal(true);
      for (const line of plan) {
        for (const { receivedDate } of [line.input, ...line.later]) expect((receivedDate ?? '') < today).to.equal(true);
        expect((line.input.invoiceDate ?? '') < today).to.equal(true);
      }
    }
  });

  it('gives each receipt of a line another total, by which an interrupted run finds its place', () => {
    for (const { input, later } of lines) {
      const totals = [input, ...later].map(({ receivedAmount }) => receivedAmount ?? 0);
      expect(new Set(totals).size).to.equal(totals.length);
    }
  });

  it('is the same whatever the day, but for its dates', () => {
    const shape = (day: string) =>
      demoBook(day).map(({ input, lines: plan, owner }) => [input.contractNo, input.partyA, input.totalAmount, owner, plan.map((line) => [line.input.amount, received(line), line.input.dueDate < day, isOverdue(line, day), line.input.invoiceNo])]);
    const expected = JSON.stringify(shape(today));
    // Month ends and leap days are where steps of months could slip across today.
    for (const day of ['2026-01-01', '2026-01-31', '2026-02-01', '2026-02-28', '2026-03-01', '2026-03-31', '2026-05-31', '2026-12-31', '2028-02-29', '2028-03-01']) {
      expect(JSON.stringify(shape(day)) === expected, day).to.equal(true);
    }
  });
});
