import { expect } from 'chai';
import fc from 'fast-check';
import { addDays } from '../../data-plane-agent/base/day.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import {
  CONTRACT_SORTS,
  type ContractDetail,
  type ContractQuery,
  type ContractSummary,
} from '../../data-plane-agent/plane/contract/records/contracts.js';
import { WORKFLOW_STAGES } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { forEachPlane, listedContracts } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

const SUBJECTS = [newId(), newId()] as const;
const OWNERS = [newId(), newId(), newId()] as const;
const TODAY = '2026-03-15';
const LEAD_DAYS = 7;
/** Texts that differ in case, script, wildcards and word boundaries. */
const TEXTS = [
  'Pumpe 100%',
  'pumpe_2',
  'ÄRGER Straße',
  'ärger strasse',
  'ΟΔΟΣΤΡΩΜΑ',
  'ΟΔΟΣ 7',
  'Isı ﬁlter',
  '上海远东机械',
  '远东重工',
  'a"b\'c',
  'x\\y',
  'İstanbul',
  '😀 crane',
] as const;
const QUERIES = [
  'pumpe',
  'PUMPE',
  '0%',
  '_2',
  'ärger',
  'straße',
  'STRASSE',
  'ΟΔΟΣ',
  'οδος',
  'isi',
  'FIL',
  'istan',
  '远东',
  '远东机',
  '上海远东机械',
  '"b\'',
  '\\y',
  'no such text',
  'p',
  '%',
  '_',
  '😀 c',
  'pumpe_2\npumpe',
] as const;

const aDay = fc.integer({ min: -20, max: 20 }).map((n) => addDays(TODAY, n));
const aListedContract = fc.record({
  text: fc.constantFrom(...TEXTS),
  project: fc.constantFrom(...TEXTS),
  subject: fc.constantFrom(...SUBJECTS),
  owner: fc.constantFrom(...OWNERS),
  type: fc.constantFrom('sale' as const, 'lease' as const),
  status: fc.constantFrom('in_progress' as const, 'completed' as const),
  statusCode: fc.constantFrom(null, 'a', 'b'),
  stage: fc.constantFrom(...WORKFLOW_STAGES),
  price: fc.integer({ min: 0, max: 3 }),
  signDate: fc.option(aDay),
  lines: fc.array(
    fc.record({
      dueDate: aDay,
      amount: fc.integer({ min: 0, max: 3 }),
      received: fc.integer({ min: 0, max: 3 }),
      currencyCode: fc.constantFrom('CNY', 'JPY'),
    }),
    { maxLength: 3 },
  ),
  pause: fc.boolean(),
});
/** Combines only a few filters, so that some contracts remain. */
const optional = <T>(values: readonly T[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.constantFrom(...values) });
const aQuery: fc.Arbitrary<ContractQuery> = fc.record({
  q: optional(QUERIES),
  type: optional(['sale', 'lease'] as const),
  status: optional(['in_progress', 'completed'] as const),
  statusCode: optional(['a', 'b', 'none']),
  payment: optional(['unpaid', 'partial', 'paid'] as const),
  ownerId: optional([...OWNERS, newId()]),
  subjectId: optional(SUBJECTS),
  workflow: optional(WORKFLOW_STAGES),
  lifecycleStageCode: optional(['draft', 'active', 'none']),
  overdue: optional([true, false]),
  dueSoon: optional([true, false]),
  sort: optional(CONTRACT_SORTS),
  order: optional(['asc', 'desc'] as const),
  page: optional([1, 2, 3, 50]),
  pageSize: optional([1, 3, 7]),
});

/** Character by character: a final sigma occurs only at the end of a word. */
const fold = (text: string) =>
  [...text]
    .map((letter) =>
      letter === 'ı'
        ? letter
        : letter
            .toUpperCase()
            .split('')
            .map((one) => one.toLowerCase())
            .join(''),
    )
    .join('')
    .normalize('NFC');
const byCodePoint = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** A naive list, computed from the details of every contract. */
function naiveList(contracts: readonly ContractDetail[], query: ContractQuery) {
  const last = addDays(TODAY, LEAD_DAYS);
  const open = ({ payments }: ContractDetail) => payments.filter((line) => line.amount > line.receivedAmount);
  const searched = (c: ContractDetail) => [
    c.archiveCode,
    c.contractNo,
    c.projectName,
    c.partyA,
    c.partyB,
    c.equipmentName,
    c.equipmentModel,
    c.remark ?? '',
  ];
  const isSame = <T>(wanted: T | null | undefined, actual: T) =>
    wanted === undefined || wanted === null || wanted === actual;
  const found = contracts.filter(
    (c) =>
      isSame(query.type, c.type) &&
      isSame(query.status, c.status) &&
      isSame(query.statusCode, c.statusCode) &&
      isSame(query.payment, c.paymentStatus) &&
      isSame(query.ownerId, c.ownerId) &&
      isSame(query.subjectId, c.subjectId) &&
      isSame(query.workflow, c.workflow) &&
      isSame(query.lifecycleStageCode, c.lifecycleStageCode) &&
      (!query.q || searched(c).some((text) => fold(text).includes(fold(query.q ?? '')))) &&
      (!query.overdue || open(c).some(({ dueDate }) => dueDate < TODAY)) &&
      (!query.dueSoon || open(c).some(({ dueDate }) => dueDate >= TODAY && dueDate <= last)),
  );
  const sort = query.sort ?? 'createdAt';
  const direction = (query.order ?? (query.sort ? 'asc' : 'desc')) === 'asc' ? 1 : -1;
  const sorted = found.toSorted((a, b) => direction * (compare(a[sort], b[sort]) || byCodePoint(a.id, b.id)));
  const [page, pageSize] = [query.page ?? 1, query.pageSize ?? 20];
  return {
    ids: sorted.slice((page - 1) * pageSize, page * pageSize).map(({ id }) => id),
    total: found.length,
    page,
    pageSize,
    pageCount: Math.ceil(found.length / pageSize),
  };
}

function compare(a: string | number | null, b: string | number | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return typeof a === 'number' || typeof b === 'number' ? Number(a) - Number(b) : byCodePoint(a, b);
}

describe('the contract list', () => {
  forEachPlane((name, makePlane) => {
    it('sorts amounts in several currencies by the displayed numbers', async () => {
      const { plane } = makePlane();
      for (const [currencyCode, unitPrice] of [
        ['JPY', 200],
        ['CNY', 150.5],
        ['KWD', 175.125],
        ['EUR', 1000],
      ] as const) {
        await plane.createContract(
          aContract({ currencyCode, quantity: 1, unitPrice, payments: [aLine({ amount: unitPrice })] }),
        );
      }
      for (const sort of ['totalAmount', 'outstandingAmount'] as const) {
        expect(
          (await listedContracts(plane, { sort })).items.map((contract) => contract[sort]),
          sort,
        ).to.deep.equal([150.5, 175.125, 200, 1000]);
        expect(
          (await listedContracts(plane, { sort, order: 'desc', page: 2, pageSize: 2 })).items.map(
            (contract) => contract[sort],
          ),
          sort,
        ).to.deep.equal([175.125, 150.5]);
      }
    });

    it('equals a naive filter, sort and paging, over random contracts', async function () {
      this.timeout(240_000);
      await fc.assert(
        fc.asyncProperty(
          fc.array(aListedContract, { minLength: 1, maxLength: 12 }),
          fc.array(aQuery, { minLength: 12, maxLength: 12 }),
          async (entries, queries) => {
            const t = makePlane({
              controls: Object.fromEntries(WORKFLOW_STAGES.map((stage) => [stage, 'admin' as const])),
            });
            const contracts: ContractDetail[] = [];
            for (const entry of entries) {
              if (entry.pause) t.clock.advance(1);
              contracts.push(
                await t.plane.createContract(
                  aContract({
                    remark: entry.text,
                    projectName: entry.project,
                    subjectId: entry.subject,
                    ownerId: entry.owner,
                    type: entry.type,
                    status: entry.status,
                    statusCode: entry.statusCode,
                    workflowStage: entry.stage,
                    unitPrice: entry.price,
                    signDate: entry.signDate,
                    payments: entry.lines.map(({ dueDate, amount, received, currencyCode }) =>
                      aLine({ dueDate, amount, receivedAmount: received, currencyCode }),
                    ),
                  }),
                ),
              );
            }
            for (const query of queries) {
              const { items, ...frame } = await listedContracts(t.plane, query);
              expect({ ids: items.map(({ id }) => id), ...frame }, JSON.stringify(query)).to.deep.equal(
                naiveList(contracts, query),
              );
              for (const item of items)
                expect(item).to.deep.equal(withoutParts(contracts.find(({ id }) => id === item.id)));
            }
          },
        ),
        { numRuns: name === 'sqlite' ? 40 : 15 },
      );
    });

    it('folds case by the full Unicode rules, at any position in a word', async () => {
      const { plane } = makePlane();
      const names = [
        'Straße 5',
        'STRASSE 5',
        'ΟΔΟΣΤΡΩΜΑ',
        'Οδός',
        'Ὀδυσσεύς',
        'ODOΣ',
        'οδος 7',
        'Masse',
        'Maẞe',
        'ısı',
        'ISI',
        'Ŧ ΰ',
        'ﬃx',
        'K2 Kelvin',
      ];
      for (const projectName of names) await plane.createContract(aContract({ projectName }));
      const found = async (q: string) =>
        (await listedContracts(plane, { q, pageSize: 100 })).items.map(({ projectName }) => projectName).toSorted();
      const cases: readonly (readonly [readonly string[], readonly string[]])[] = [
        [
          ['STRASSE', 'straße', 'Straẞe', 'strasse 5'],
          ['STRASSE 5', 'Straße 5'],
        ],
        [
          ['ΟΔΟΣ', 'οδος', 'οδοσ', 'Οδος'],
          ['ΟΔΟΣΤΡΩΜΑ', 'οδος 7'],
        ],
        [['ὈΔΥΣΣΕΎΣ', 'ὀδυσσεύσ'], ['Ὀδυσσεύς']],
        [
          ['MASSE', 'maße', 'mAẞ'],
          ['Masse', 'Maẞe'],
        ],
        [['isi', 'ISI'], ['ISI']],
        [['ısı'], ['ısı']],
        [['ΰ', 'Ϋ́'], ['Ŧ ΰ']],
        [['FFIX', 'ffi', 'ﬀi', 'ﬃ'], ['ﬃx']],
        [['k2 k', '\u212a2'], ['K2 Kelvin']],
        [['ss'], ['Masse', 'Maẞe', 'STRASSE 5', 'Straße 5']],
      ];
      for (const [queries, expected] of cases)
        for (const q of queries) expect(await found(q), q).to.deep.equal(expected.toSorted());
    });

    it('has an exact total after every write', async () => {
      const { plane } = makePlane();
      const total = async () => (await listedContracts(plane, { status: 'in_progress' })).total;
      expect(await total()).to.equal(0);
      const made = await plane.createContract(aContract());
      expect(await total()).to.equal(1);
      expect(await total()).to.equal(1);
      await plane.updateContract({ contractId: made.id, changes: { status: 'completed' } });
      expect(await total()).to.equal(0);
      await plane.updateContract({ contractId: made.id, changes: { status: 'in_progress' } });
      await plane.deleteContract({ contractId: made.id });
      expect(await total()).to.equal(0);
    });

    it('computes overdue and due-soon amounts for the day of the call, not of the write', async () => {
      const t = makePlane();
      await t.plane.createContract(aContract({ payments: [aLine({ dueDate: '2026-03-20' })] }));
      const on = async (today: string) => {
        const plane = t.as({ today });
        const { items } = await listedContracts(plane, {});
        return [
          items[0]?.isDueSoon,
          items[0]?.isOverdue,
          items[0]?.daysOverdue,
          (await listedContracts(plane, { dueSoon: true })).total,
          (await listedContracts(plane, { overdue: true })).total,
        ];
      };
      expect(await on('2026-03-12')).to.deep.equal([false, false, 0, 0, 0]);
      expect(await on('2026-03-13')).to.deep.equal([true, false, 0, 1, 0]);
      expect(await on('2026-03-20')).to.deep.equal([true, false, 0, 1, 0]);
      expect(await on('2026-03-21')).to.deep.equal([false, true, 1, 0, 1]);
    });
  });
});

function withoutParts(detail: ContractDetail | undefined): ContractSummary | undefined {
  if (!detail) return undefined;
  const {
    payments: _payments,
    terms: _terms,
    notes: _notes,
    invoices: _invoices,
    fulfillmentTasks: _tasks,
    warnings: _warnings,
    ...summary
  } = detail;
  return summary;
}
