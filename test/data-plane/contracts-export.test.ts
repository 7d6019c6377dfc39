import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { BoundPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import {
  CONTRACT_SORTS,
  type ContractDetail,
  type ContractQuery,
} from '../../data-plane-agent/plane/contract/records/contracts.js';
import { EXPORT_CHUNK, type ExportFilter } from '../../data-plane-agent/plane/contract/records/export.js';
import { ALL_RIGHTS } from '../../data-plane-agent/plane/contract/call.js';
import type { Operations } from '../../data-plane-agent/plane/operations/index.js';
import { contractSheet } from '../../server/spreadsheets/contract-sheet.js';
import { failureOf } from '../support/failures.js';
import { forEachPlane, listedContracts, PLANES, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';
import { exported, NAMES, rowsOf } from '../support/sheet.js';

type Plane = BoundPlane<Operations>;

describe('an export of contracts', () => {
  forEachPlane(
    (_name, makePlane) => {
      const numbers = async (plane: Plane, filter: ExportFilter = {}): Promise<string[]> =>
        rowsOf(await exported(plane, { filter })).map(({ contractNo = '' }) => contractNo);
      const listed = async (plane: Plane, query: ContractQuery = {}): Promise<string[]> =>
        (await listedContracts(plane, { ...query, pageSize: 200 })).items.map(({ contractNo }) => contractNo);
      const entered = (
        plane: Plane,
        count: number,
        of: Parameters<typeof aContract>[0] = {},
      ): Promise<ContractDetail[]> =>
        Promise.all(Array.from({ length: count }, () => plane.createContract(aContract(of))));

      describe('contains the contracts of the list', () => {
        let t: TestPlane;
        let contracts: ContractDetail[];
        const [north, owner] = [newId(), newId()];
        before('a book', async () => {
          t = makePlane();
          contracts = [];
          for (const i of Array.from({ length: 12 }).keys()) {
            t.clock.advance(i % 3 === 0 ? 0 : 1);
            contracts.push(
              await t.plane.createContract(
                aContract({
                  projectName: `Kai ${i % 4}`,
                  unitPrice: i % 5,
                  ...(i % 2 ? { subjectId: north, signDate: `2026-01-1${i % 4}`, type: 'lease' as const } : {}),
                  ...(i % 3
                    ? {
                        ownerId: owner,
                        payments: [
                          aLine({ dueDate: i % 4 ? '2026-03-01' : '2026-03-20', receivedAmount: i === 5 ? 1_000 : 0 }),
                        ],
                      }
                    : {}),
                }),
              ),
            );
          }
        });

        for (const order of [undefined, 'asc', 'desc'] as const) {
          for (const sort of [undefined, ...CONTRACT_SORTS]) {
            it(`in its order, sorted by ${sort ?? 'nothing'} ${order ?? ''}`, async () => {
              const asked = { ...(sort ? { sort } : {}), ...(order ? { order } : {}) };
              expect(await numbers(t.plane, asked))
                .to.deep.equal(await listed(t.plane, asked))
                .and.to.have.length(12);
            });
          }
        }

        const FILTERS: readonly ContractQuery[] = [
          { q: 'kai 3' },
          { q: 'k' },
          { type: 'lease' },
          { status: 'completed' },
          { payment: 'paid' },
          { ownerId: owner },
          { ownerId: newId() },
          { subjectId: north },
          { workflow: 'draft' },
          { lifecycleStageCode: 'draft' },
          { overdue: true },
          { dueSoon: true },
          { overdue: true, dueSoon: true },
          { overdue: false },
          { subjectId: north, q: 'kai', payment: 'unpaid', sort: 'projectName' },
        ];
        for (const filter of FILTERS) {
          it(`that match ${JSON.stringify(filter).replaceAll(/[0-9a-f-]{36}/g, '…')}`, async () => {
            const expected = await listed(t.plane, filter);
            expect(await numbers(t.plane, filter)).to.deep.equal(expected);
            expect(await numbers(tooMany(t.plane), filter)).to.have.members(expected);
            const some = contracts.filter((_, i) => i % 2 === 0);
            expect(await numbers(t.plane, { ...filter, ids: some.map(({ id }) => id) })).to.deep.equal(
              expected.filter((no) => some.some(({ contractNo }) => contractNo === no)),
            );
          });
        }

        it('and, of the requested ids, each existing one once', async () => {
          const [first, second] = contracts;
          expect(
            await numbers(t.plane, { ids: [second?.id ?? '', newId(), 'no id', first?.id ?? '', second?.id ?? ''] }),
          ).to.deep.equal([second?.contractNo, first?.contractNo]);
          expect(await numbers(t.plane, { ids: [] })).to.deep.equal([]);
          expect(await failureOf(numbers(t.plane, { subjectId: 'no id' }))).to.deep.equal({
            code: 'NOT_FOUND',
            details: {},
          });
        });

        it("within the caller's scopes, whatever is requested", async () => {
          const ids = contracts.map(({ id }) => id);
          for (const filter of [{}, { ids }, { sort: 'contractNo' as const }]) {
            for (const scope of [
              { subjectScope: [north] },
              { subjectScope: [] },
              { ownerScope: owner },
              { subjectScope: [north], ownerScope: owner },
            ]) {
              const { ids: _, ...query } = { ids, ...filter };
              const seen = t.as(scope);
              expect(await numbers(seen, filter)).to.deep.equal(await listed(seen, query));
              expect(await numbers(tooMany(seen), filter)).to.have.members(await listed(seen, query));
            }
          }
          const other = makePlane();
          for (const plane of [other.plane, tooMany(other.plane)])
            expect(await numbers(plane, { ids })).to.deep.equal([]);
          expect(
            await other.plane.exportContracts({ profile: 'full', filter: {}, fieldIds: [], ids, after: null }),
          ).to.deep.include({ contracts: [] });
          expect(await failureOf(numbers(t.as({ subjectScope: [north] }), { subjectId: newId() }))).to.deep.equal({
            code: 'NOT_FOUND',
            details: {},
          });
        });
      });

      it('masks account numbers for callers who may not see them', async () => {
        const t = makePlane();
        await t.plane.createContract(
          aContract({
            payeeAccount: '6222000011112222',
            payments: [aLine({ receivedAmount: 5, receiptAccount: '31000099998888' })],
          }),
        );
        const accounts = async (plane: Plane) =>
          rowsOf(await exported(plane, { profile: 'full' })).map((row) => [
            row['payeeAccount'],
            row['line.receiptAccount'],
          ]);
        expect(await accounts(t.plane)).to.deep.equal([['6222000011112222', '31000099998888']]);
        expect(await accounts(t.as({ rights: { ...ALL_RIGHTS, sensitive: false } }))).to.deep.equal([
          ['****2222', '****8888'],
        ]);
      });

      it('contains amounts as numbers with the decimals of their currency, and names instead of ids', async () => {
        const t = makePlane();
        const [jpy, kwd] = [{ currencyCode: 'JPY' }, { currencyCode: 'KWD' }];
        const contract = await t.plane.createContract(
          aContract({
            ...jpy,
            quantity: 3,
            unitPrice: 0.333333,
            payments: [
              aLine({ ...jpy, amount: 7, period: 'a' }),
              aLine({ ...kwd, amount: 0.125, period: 'b', receivedAmount: 0.5 }),
              aLine({ currencyCode: 'CNY', amount: 9_000_000_000_000, period: 'c', dueDate: '2026-03-01' }),
            ],
          }),
        );
        const rows = rowsOf(await exported(t.plane, { profile: 'full' }));
        expect(
          rows.map((row) => [
            row['unitPrice'],
            row['totalAmount'],
            row['line.period'],
            row['line.amount'],
            row['line.receivedAmount'],
            row['line.currencyCode'],
          ]),
        ).to.deep.equal([
          ['0.333333', '1', 'c', '9000000000000', '0', 'CNY'],
          ['0.333333', '1', 'a', '7', '0', 'JPY'],
          ['0.333333', '1', 'b', '0.125', '0.5', 'KWD'],
        ]);
        expect(rows[0]).to.include({
          subjectName: `subject ${contract.subjectId}`,
          ownerEmail: `${contract.ownerId}@members.test`,
          ownerSuperiorEmail: '',
          lifecycleTemplateCode: 'standard',
        });
        const [summary] = rowsOf(await exported(t.plane));
        expect(summary).to.include({
          ownerName: `name ${contract.ownerId}`,
          totalAmount: '1',
          overdueAmount: '0',
          outstandingAmount: '7',
          nextDueDate: '2026-03-01',
        });
        const names = { ...NAMES, subjectName: () => '=cmd', memberName: () => null, memberEmail: () => null };
        expect(rowsOf(await exported(t.plane, { names }))[0]).to.include({ subjectName: "'=cmd", ownerName: '' });
      });

      it('keeps the rows of a contract together, and truncates none, however many they are', async () => {
        const t = makePlane();
        const lines = (count: number) => Array.from({ length: count }, (_, i) => aLine({ period: `P${i}`, amount: 1 }));
        const counts = [0, 600, 500, 1, 1_500, 0, 900, 200];
        for (const count of counts)
          await t.plane.createContract(aContract({ remark: String(count), payments: lines(count) }));
        for (const plane of [t.plane, tooMany(t.plane)]) {
          const rows = rowsOf(await exported(plane, { profile: 'full', filter: { sort: 'createdAt', order: 'asc' } }));
          expect(rows.map(({ remark }) => remark)).to.deep.equal(
            counts.flatMap((count) => Array.from({ length: Math.max(1, count) }, () => String(count))),
          );
          expect(rows.filter(({ remark }) => remark === '0').map((row) => row['line.period'])).to.deep.equal(['', '']);
          expect(
            new Set(rows.filter(({ remark }) => remark === '1500').map((row) => row['line.period'])).size,
          ).to.equal(1_500);
        }
      });

      it('contains each contract once, even if it changes during the export', async () => {
        for (const asked of [tooMany, (plane: Plane) => plane]) {
          for (const filter of [{}, { sort: 'createdAt', order: 'asc' }] as const) {
            const t = makePlane();
            const contracts = await entered(t.plane, EXPORT_CHUNK * 2 + 20);
            const deleted = await t.plane.createContract(aContract());
            const plane = betweenChunks(asked(t.plane), async (chunk) => {
              if (chunk !== 1) return;
              t.clock.advance(1);
              for (const { id } of contracts.filter((_, i) => i % 20 === 0))
                await t.plane.updateContract({
                  contractId: id,
                  changes: { remark: 'meanwhile', projectName: 'AAA', signDate: '2026-01-01' },
                });
              if (filter.sort) await t.plane.deleteContract({ contractId: deleted.id });
              await t.plane.createContract(aContract());
            });
            const found = (await numbers(plane, filter)).filter((no) =>
              contracts.some(({ contractNo }) => contractNo === no),
            );
            expect(found)
              .to.have.length(contracts.length)
              .and.to.have.members(contracts.map(({ contractNo }) => contractNo));
          }
        }
      });

      it('is read by chunk as the client consumes it, and not before', async () => {
        const t = makePlane();
        await entered(t.plane, EXPORT_CHUNK * 3 + 1, { remark: 'x'.repeat(1_000), payments: [aLine()] });
        let chunks = 0;
        const pieces = contractSheet({
          plane: betweenChunks(t.plane, async () => void (chunks += 1)),
          profile: 'full',
          filter: {},
          names: NAMES,
        });
        expect(chunks).to.equal(0);
        const seen: number[] = [];
        const taken: string[] = [];
        for await (const piece of pieces) {
          taken.push(piece);
          seen.push(chunks);
        }
        expect(seen[0]).to.equal(1);
        expect(seen.at(-1)).to.equal(4);
        for (const piece of taken) expect(piece.length).to.be.lessThan(70_000);
        expect(rowsOf(taken.join(''))).to.have.length(EXPORT_CHUNK * 3 + 1);
      });

      describe('is audited', () => {
        const events = async (t: TestPlane) => {
          const { items } = await t.plane.listAudit({
            action: 'recordExport',
            actorId: null,
            recordId: null,
            page: 1,
            pageSize: 10,
          });
          return items.map(({ recordKind, actorName, changes }) => ({
            recordKind,
            actorName,
            ...Object.fromEntries(changes.map(({ field, after }) => [field, after])),
          }));
        };

        it('with the actor, the content and the number of rows', async () => {
          const t = makePlane();
          const [first] = await entered(t.plane, 2, { payments: [aLine(), aLine({ period: 'second' })] });
          const total = (await listedContracts(t.plane, {})).total;
          await exported(t.plane, { profile: 'full', filter: { q: 'crane', overdue: false } });
          await exported(t.plane, { filter: { ids: [first?.id ?? '', newId()] } });
          const [byId, byText] = await events(t);
          expect(byText).to.deep.equal({
            recordKind: 'export',
            actorName: 'Ming Li',
            profile: 'full',
            contracts: 2,
            rows: 4,
            complete: true,
            filter: { q: 'crane', overdue: false },
          });
          expect(byId).to.include({ profile: 'summary', contracts: 1, rows: 1, complete: true, idCount: 2 });
          expect((byId as { ids?: unknown }).ids)
            .to.have.length(2)
            .and.to.include(first?.id);
          expect((await listedContracts(t.plane, {})).total).to.equal(total);
        });

        it('also if it is aborted or fails, with the number of rows written', async () => {
          const t = makePlane();
          await entered(t.plane, EXPORT_CHUNK + 50, { remark: 'x'.repeat(2_000) });
          const pieces = contractSheet({ plane: t.plane, profile: 'full', filter: {}, names: NAMES });
          await pieces.next();
          await pieces.return();
          const broken = betweenChunks(t.plane, (chunk) =>
            chunk === 1 ? Promise.reject(new Error('the connection was cut')) : Promise.resolve(),
          );
          const reached = await exported(broken).then(
            () => 'the end',
            (error: Error) => error.message,
          );
          expect(reached).to.equal('the connection was cut');
          const [failed, givenUp] = (await events(t)) as { contracts?: unknown; complete?: unknown }[];
          expect(failed).to.include({ contracts: EXPORT_CHUNK, rows: EXPORT_CHUNK, complete: false });
          expect(givenUp).to.include({ complete: false });
          expect(givenUp?.contracts).to.be.a('number').within(1, EXPORT_CHUNK);
        });

        it('or is not reported as complete', async () => {
          const t = makePlane();
          await entered(t.plane, 1);
          const unrecorded = { ...bare(t.plane), recordExport: () => Promise.reject(new Error('no room')) };
          expect(
            await exported(unrecorded as unknown as Plane).then(
              () => 'the end',
              (error: Error) => error.message,
            ),
          ).to.equal('no room');
        });
      });
    },
    { only: PLANES },
  );
});

/** The three operations of an export, each of which a test can replace. */
const bare = (plane: Plane) => ({
  planContractExport: (input: Parameters<Plane['planContractExport']>[0]) => plane.planContractExport(input),
  exportContracts: (input: Parameters<Plane['exportContracts']>[0]) => plane.exportContracts(input),
  recordExport: (input: Parameters<Plane['recordExport']>[0]) => plane.recordExport(input),
});

/** Simulates more contracts than an export selects in advance. */
const tooMany = (plane: Plane): Plane => {
  const { planContractExport, ...rest } = bare(plane);
  return {
    ...rest,
    planContractExport: async (input: Parameters<Plane['planContractExport']>[0]) => ({
      ...(await planContractExport(input)),
      ...(input.filter.ids ? {} : { ids: null }),
    }),
  } as unknown as Plane; // the rest is not requested
};

/** Runs a callback before each chunk is read; the first is number 0. */
const betweenChunks = (plane: Plane, happens: (chunk: number) => Promise<void>): Plane => {
  let chunk = 0;
  const { exportContracts, ...rest } = bare(plane);
  return {
    ...rest,
    exportContracts: async (input: Parameters<Plane['exportContracts']>[0]) => (
      await happens(chunk++),
      exportContracts(input)
    ),
  } as unknown as Plane; // the rest is not requested
};
