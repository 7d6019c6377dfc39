import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addDays, addMonths, daysBetween } from '../../data-plane-agent/base/day.js';
import { demoBook, type DemoContract } from '../../cli/demo/book.js';
import { DEMO_MEMBERS, DEMO_OWNER, DEMO_SUBJECTS } from '../../cli/demo/cast.js';
import { isImported } from '../../cli/demo/import.js';
import type { DemoLine } from '../../cli/demo/lines.js';
import { papersOf } from '../../cli/demo/papers.js';
import { extract } from '../../data-plane-agent/plane/domain/extraction/extract.js';
import { TASK_STATUSES, WORKFLOW_STAGES } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { BUILT_IN_ROLES } from '../../server/tenants/roles.js';
import { root } from '../support/source.js';

const today = '2026-03-15';
const linesOf = (contracts: readonly DemoContract[]): DemoLine[] => contracts.flatMap(({ lines }) => lines);
const received = ({ input, later }: DemoLine): number => (later.at(-1) ?? input).receivedAmount ?? 0;
const isOverdue = (line: DemoLine, on: string): boolean =>
  line.input.dueDate < on && received(line) < line.input.amount;

describe('the demo data', () => {
  const contracts = demoBook(today);
  const lines = linesOf(contracts);

  it('has 300 contracts with 3 000 payment lines in three currencies, of three companies and twelve people in all seven roles', () => {
    expect(contracts).to.have.length(300);
    expect(lines).to.have.length(3_000);
    expect(new Set(contracts.map(({ input }) => input.currencyCode))).to.deep.equal(new Set(['CNY', 'EUR', 'JPY']));
    expect(new Set(contracts.map(({ subject }) => subject.key))).to.deep.equal(
      new Set(DEMO_SUBJECTS.map(({ key }) => key)),
    );
    expect(DEMO_MEMBERS).to.have.length(12);
    expect(new Set(DEMO_MEMBERS.map(({ roleCode }) => roleCode))).to.deep.equal(
      new Set(BUILT_IN_ROLES.map(({ code }) => code)),
    );
    expect(DEMO_MEMBERS.filter(({ roleCode }) => roleCode === 'owner')).to.deep.equal([DEMO_OWNER]);
  });

  it('has the customer as party A and the own company as party B in all contracts, as in the tour of the README', () => {
    for (const { input, subject } of contracts) {
      expect(input.partyB, input.contractNo).to.equal(subject.legalName);
      expect(DEMO_SUBJECTS.map(({ legalName }) => legalName)).not.to.include(input.partyA);
    }
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    const parties = [
      ...readme.matchAll(/"partyA": "([^"]+)", "partyB": "([^"]+)"/g),
      ...readme.matchAll(/;'\$subject';([^;]+);([^;]+);/g), // cells of a CSV
      ...readme.matchAll(/甲方（买方）：([^\\]+)\\n乙方（卖方）：([^\\]+)\\n/g),
    ];
    expect(parties).to.have.length.of.at.least(4);
    for (const [all, customer, own] of parties) {
      expect(own, all).to.match(/Huayue|华岳/);
      expect(customer, all).not.to.match(/Huayue|华岳/);
    }
  });

  it('has sales and leases at every stage', () => {
    expect(new Set(contracts.map(({ input }) => input.type))).to.deep.equal(new Set(['sale', 'lease']));
    expect(new Set(contracts.map(({ stage }) => stage))).to.deep.equal(new Set(WORKFLOW_STAGES));
  });

  it('has every kind of payment: settled, partial, corrected, overpaid, underpaid, overdue, due soon; and invoices', () => {
    expect(lines.filter((line) => isOverdue(line, today)).length).to.be.within(60, 200);
    expect(lines.filter((line) => received(line) > 0 && received(line) < line.input.amount).length).to.be.above(15);
    expect(lines.filter((line) => received(line) > line.input.amount).length).to.be.above(15);
    expect(lines.filter(({ later }) => later.length > 0).length).to.be.above(60);
    expect(
      lines.filter(({ input, later }) =>
        later.some(({ receivedAmount }) => (receivedAmount ?? 0) < (input.receivedAmount ?? 0)),
      ).length,
    ).to.be.above(10);
    expect(
      lines.filter(
        (line) =>
          line.input.dueDate >= today && line.input.dueDate <= addDays(today, 7) && received(line) < line.input.amount,
      ).length,
    ).to.be.above(10);
    expect(lines.filter(({ input }) => input.invoiceNo).length).to.be.above(1_000);
    expect(lines.filter(({ input, invoices }) => !input.invoiceNo && invoices.length === 0).length).to.be.above(500);
  });

  it('has invoice records in every state: drafts, issued, void, and red letters, the last two with their replacements', () => {
    const invoices = lines.flatMap((line) => line.invoices);
    expect(invoices.filter(({ input }) => input.status === 'issued').length).to.be.above(100);
    expect(invoices.filter(({ input }) => input.status === 'draft').length).to.be.above(5);
    for (const turns of ['void', 'red_letter'] as const) {
      const turned = lines.filter((line) => line.invoices.some((invoice) => invoice.turns === turns));
      expect(turned.length, turns).to.be.within(1, 20);
      for (const line of turned)
        expect(line.invoices.filter((invoice) => invoice.input.status === 'issued' && !invoice.turns)).to.have.length(
          1,
        );
    }
    // An invoice number on the line would create a second record.
    expect(lines.filter(({ input, invoices: records }) => input.invoiceNo && records.length > 0)).to.deep.equal([]);
  });

  it('has tasks in every state, each assigned to somebody, and some that are late', () => {
    const tasks = contracts.flatMap((contract) => contract.tasks);
    const states = new Set(tasks.map((task) => task.states.at(-1)));
    // The daily job marks overdue tasks.
    expect(states).to.deep.equal(new Set(TASK_STATUSES.filter((status) => status !== 'overdue')));
    expect(
      tasks.filter(
        ({ states: [...path], input }) =>
          ['pending', 'in_progress'].includes(path.at(-1) ?? '') && (input.dueDate ?? '') < today,
      ).length,
    ).to.be.above(4);
    for (const { tasks: own } of contracts)
      expect(new Set(own.map(({ input }) => input.code)).size).to.equal(own.length);
  });

  it('has contracts moved through the stages by several members, none of whom approves their own; a refused transition and a lock', () => {
    const travelled = contracts.filter(({ input, acts }) => input.workflowStage === 'draft' && acts.length >= 3);
    expect(travelled.length).to.be.above(30);
    for (const { acts, owner } of travelled) {
      expect(new Set(acts.map(({ by }) => by)).size).to.be.above(1);
      expect(
        acts.every(
          ({ by, note, ...act }) =>
            note !== '' && !(act.does === 'move' && act.transition === 'approve' && by === owner),
        ),
      ).to.equal(true);
    }
    const acts = contracts.flatMap((contract) => contract.acts);
    expect(acts.filter(({ does }) => does === 'try')).to.have.length(2);
    expect(acts.filter(({ does }) => does === 'lock')).to.have.length(2);
    expect(acts.some((act) => act.does === 'move' && act.transition === 'return_to_draft')).to.equal(true);
  });

  it('has turnkey contracts with a custom lifecycle, some with board approval, up to the warranty or its end', () => {
    const turnkey = contracts.filter(({ input }) => input.typeCode === 'turnkey');
    expect(turnkey.length).to.be.within(20, 60);
    expect(new Set(turnkey.map(({ stageCode }) => stageCode))).to.include.keys(
      'board',
      'signed',
      'delivery',
      'warranty',
      'closed',
      'archived',
    );
    expect(turnkey.every(({ custom }) => custom['orderNo'] !== null)).to.equal(true);
    // Contracts handed over have no open task, whatever the date.
    for (const day of [today, '2026-05-31', '2028-02-29']) {
      for (const { finish, tasks } of demoBook(day))
        if (finish.some((act) => act.does === 'move' && act.transition === 'hand_over'))
          expect(
            tasks.every(({ states }) => ['completed', 'accepted', 'canceled'].includes(states.at(-1) ?? '')),
          ).to.equal(true);
    }
  });

  it('has a contract with overdue tasks, whatever the date', () => {
    for (const day of [today, '2026-01-01', '2026-05-31', '2028-02-29', '2028-03-01']) {
      const lapsed = demoBook(day).filter(
        ({ tasks }) =>
          tasks.length > 0 &&
          tasks.every(({ input, states }) => states.at(-1) === 'pending' && (input.dueDate ?? day) < day),
      );
      expect(
        lapsed.map(({ input }) => input.contractNo),
        day,
      ).to.deep.equal(['EU-S-0205']);
    }
  });

  it('has values for every custom field, on many contracts', () => {
    for (const field of [
      'industry',
      'deputy',
      'warrantyUntil',
      'creditLimit',
      'siteAccess',
      'connectedLoad',
      'certificates',
      'manual',
      'invoiceEmail',
      'sitePhone',
      'leadTime',
      'region',
    ] as const)
      expect(contracts.filter(({ custom }) => custom[field] !== null).length, field).to.be.above(30);
    expect(contracts.filter(({ custom }) => custom.framework).length).to.be.within(20, 150);
  });

  it('has drafts to import, and two documents to extract, one of them with inconsistent amounts', () => {
    expect(contracts.filter(isImported).length).to.be.within(3, 20);
    // A file has no receipts, invoices or transitions.
    expect(
      contracts.filter(
        (contract) =>
          isImported(contract) &&
          (contract.acts.length > 0 ||
            contract.lines.some(
              ({ input, later, invoices }) =>
                input.receivedAmount || input.invoiceNo || later.length + invoices.length > 0,
            )),
      ),
    ).to.deep.equal([]);
    const documents = papersOf(contracts);
    expect(documents.map(({ review }) => review !== undefined)).to.deep.equal([true, false]);
    const runs = documents.map(({ contract, text }) =>
      extract(text, { currencyCode: contract.input.currencyCode ?? '' }),
    );
    expect(runs.map(({ warnings }) => warnings.map(({ code }) => code))).to.deep.equal([[], ['TOTAL_MISMATCH']]);
    for (const [i, { fields }] of runs.entries())
      for (const { fieldKey, value } of fields)
        if (fieldKey === 'partyA' || fieldKey === 'partyB')
          expect(value, fieldKey).to.equal(documents[i]?.contract.input[fieldKey]);
    const [read] = documents;
    for (const { fieldKey, status } of read?.review ?? [])
      if (status === 'accepted')
        expect(runs[0]?.fields.find((field) => field.fieldKey === fieldKey)?.value, fieldKey).to.equal(
          read?.contract.input[fieldKey as 'contractNo' | 'totalAmount'],
        );
  });

  it('has receipts in each month, never less than refunds, whatever the date', () => {
    for (const day of [today, '2026-01-01', '2026-01-02', '2026-05-31', '2028-02-29', '2028-03-01']) {
      const months = new Map<string, number>();
      for (const { input, lines: plan } of demoBook(day))
        for (const { input: first, later } of plan) {
          let before = 0;
          for (const { receivedAmount, receivedDate } of [first, ...later]) {
            if (!receivedAmount || !receivedDate) continue;
            const month = `${input.currencyCode} ${receivedDate.slice(0, 7)}`;
            months.set(month, (months.get(month) ?? 0) + receivedAmount - before);
            before = receivedAmount;
          }
        }
      expect(
        [...months].filter(([, sum]) => sum < 0),
        day,
      ).to.deep.equal([]);
      for (const currency of ['CNY', 'EUR', 'JPY']) {
        const last = [1, 2, 3, 4, 5].map(
          (n) => months.get(`${currency} ${addMonths(`${day.slice(0, 7)}-01`, -n).slice(0, 7)}`) ?? 0,
        );
        expect(Math.min(...last) / Math.max(...last), `${currency} before ${day}`).to.be.above(0.25);
      }
    }
  });

  it('spans three years', () => {
    const days = lines.map(({ input }) => input.dueDate).toSorted();
    expect(daysBetween(days[0] ?? '', days.at(-1) ?? '')).to.be.within(1_000, 1_130);
  });

  it('adds up: the lines of a contract sum up to its total, and differences to quantity × price are discounts', () => {
    for (const { input, lines: plan } of contracts) {
      expect(
        plan.reduce((sum, line) => sum + line.input.amount, 0),
        input.contractNo,
      ).to.equal(input.totalAmount);
      expect(input.totalAmount, input.contractNo).to.be.at.most(input.quantity * input.unitPrice);
      expect(
        plan.every((line) => Number.isInteger(line.input.amount)),
        input.contractNo,
      ).to.equal(true);
    }
  });

  it('has unique contract numbers, archive codes, periods per contract, and invoice numbers', () => {
    const unique = (values: readonly unknown[]) => expect(new Set(values).size).to.equal(values.length);
    unique(contracts.map(({ input }) => input.contractNo));
    unique(contracts.map(({ input }) => input.archiveCode));
    for (const { lines: plan } of contracts) unique(plan.map(({ input }) => input.period));
    unique(
      lines.flatMap(({ input, invoices }) => [
        ...(input.invoiceNo ? [input.invoiceNo] : []),
        ...invoices.map((invoice) => invoice.input.invoiceNo),
      ]),
    );
  });

  it('has no receipt, invoice or signature later than today', () => {
    for (const { input, lines: plan, acts } of contracts) {
      expect((input.signDate ?? '') < today && input.startDate <= input.endDate, input.contractNo).to.equal(true);
      for (const { on } of acts) expect((on ?? '') < today, input.contractNo).to.equal(true);
      for (const line of plan) {
        for (const { receivedDate } of [line.input, ...line.later]) expect((receivedDate ?? '') < today).to.equal(true);
        for (const { invoiceDate } of [line.input, ...line.invoices.map((invoice) => invoice.input)])
          expect((invoiceDate ?? '') < today).to.equal(true);
      }
    }
  });

  it('has a different total for each receipt of a line, by which an interrupted run finds where to continue', () => {
    for (const { input, later } of lines) {
      const totals = [input, ...later].map(({ receivedAmount }) => receivedAmount ?? 0);
      expect(new Set(totals).size).to.equal(totals.length);
    }
  });

  it('is the same on all days, except for its dates', () => {
    const shape = (day: string) =>
      demoBook(day).map(({ input, lines: plan, owner, stage, stageCode, acts, finish, tasks, custom, notes }) => [
        input.contractNo,
        input.partyA,
        input.equipmentModel,
        input.totalAmount,
        owner,
        plan.map((line) => [
          line.input.amount,
          received(line),
          line.input.dueDate < day,
          isOverdue(line, day),
          line.input.invoiceNo,
          line.invoices.map((invoice) => invoice.input.invoiceNo),
        ]),
        stage,
        stageCode,
        input.typeCode,
        [...acts, ...finish].map(({ by, note }) => [by, note]),
        tasks.map((task) => task.input.code),
        { ...custom, warrantyUntil: null, handoverAt: null },
        notes,
      ]);
    const expected = JSON.stringify(shape(today));
    // At month ends and leap days, adding months could cross the current day.
    for (const day of [
      '2026-01-01',
      '2026-01-31',
      '2026-02-01',
      '2026-02-28',
      '2026-03-01',
      '2026-03-31',
      '2026-05-31',
      '2026-12-31',
      '2028-02-29',
      '2028-03-01',
    ]) {
      expect(JSON.stringify(shape(day)) === expected, day).to.equal(true);
    }
  });
});
