import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { TransferStore } from '../../data-plane-agent/plane/store/transfers.js';
import { lines } from '../../data-plane-agent/plane/tables/payment-lines.js';
import { receipts } from '../../data-plane-agent/plane/tables/receipts.js';
import { analyse, explaining } from '../support/explaining.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

/** Lines that are copied, each with its own transfer. */
const COPIES = 20_000;
const PER_INSERT = 1_000;
/** Reads all lines or receipts of the tenant. */
const SCANNED_BY_TENANT = /(payment_lines|receipts) USING [^\n]*\(tenant_id=\?\)/;
const SCAN = /Seq Scan on (payment_lines|receipts)|SCAN (payment_lines|receipts)\b/;

describe('the queries for bank transfers', () => {
  forEachPlane((name, makePlane) => {
    let test: TestPlane;
    let lineId = '';
    before('a book large enough that a planner prefers indexes', async function () {
      this.timeout(180_000);
      test = makePlane();
      const { id: contractId } = await test.plane.createContract(
        aContract({ payments: [aLine({ receivedAmount: 5, bankSerialNo: 'S-0' })] }),
      );
      for (let n = 1; n < COPIES; n += PER_INSERT)
        await test.database.write(test.call, (tx) => copy(tx, contractId, n));
    });

    it('find the lines of a transfer without statistics of the planner, which SQLite never collects by itself', async () => {
      const plans = await plansOf((transfers) => transfers.linesOf(['S-1', 'S-2', 'S-3'], 20));
      expect(plans).to.have.length(3);
      if (name === 'sqlite') for (const plan of plans) expect(plan).to.not.match(SCANNED_BY_TENANT);
      for (const index of ['lines_by_bank_serial', 'receipts_by_bank_serial']) expect(plans[0]).to.include(index);
    });

    it('stop after the first one when a transfer has a single line', async () => {
      expect(await plansOf((transfers) => transfers.linesOf(['S-1'], 20))).to.have.length(1);
      await test.database.read(test.call, async (tx) => {
        expect(await new TransferStore(tx, test.call).linesOf(['S-1'], 20)).to.deep.equal([]);
      });
    });

    const copy = async (
      tx: Parameters<Parameters<TestPlane['database']['write']>[1]>[0],
      contractId: string,
      from: number,
    ) => {
      const scope = [test.call.tenantId, contractId];
      const line = lines.decode(
        (await tx.get(
          `SELECT ${lines.columnNames} FROM payment_lines WHERE tenant_id = ? AND contract_id = ? LIMIT 1`,
          scope,
        )) ?? {},
      );
      const receipt = receipts.decode(
        (await tx.get(
          `SELECT ${receipts.columnNames} FROM receipts WHERE tenant_id = ? AND contract_id = ? LIMIT 1`,
          scope,
        )) ?? {},
      );
      const copies = Array.from({ length: PER_INSERT }, (_, i) => ({
        ...line,
        id: newId(),
        bankSerialNo: `S-${from + i}`,
      }));
      lineId = copies[0]?.id ?? '';
      await lines.insert(tx, test.call.tenantId, copies);
      await receipts.insert(
        tx,
        test.call.tenantId,
        copies.map(({ id, bankSerialNo }) => ({ ...receipt, id: newId(), lineId: id, bankSerialNo })),
      );
    };

    const plansOf = async (read: (transfers: TransferStore) => Promise<unknown>): Promise<string[]> => {
      const plans: string[] = [];
      await test.database.read(test.call, (tx) => read(new TransferStore(explaining(tx, plans), test.call)));
      return plans;
    };

    describe('with statistics', () => {
      before(() => analyse(test.database));

      it('find the lines of a transfer by its number, on lines and on receipts, with as many statements for any number of transfers', async () => {
        const plans = await plansOf(async (transfers) => {
          await transfers.linesOf(['S-1', 'S-2', 'S-3'], 20);
          await transfers.figuresOf(['S-1', 'S-2', 'S-3']);
        });
        expect(plans).to.have.length(6);
        for (const plan of plans) expect(plan).to.not.match(SCAN);
        for (const plan of [plans[0], plans[3]])
          for (const index of ['lines_by_bank_serial', 'receipts_by_bank_serial'])
            expect(plan).to.match(
              new RegExp(
                name === 'sqlite'
                  ? `SEARCH .* USING INDEX ${index} \\(tenant_id=\\? AND bank_serial_no=\\?\\)`
                  : `Scan using ${index} on .*\\n +Index Cond: .* AND \\(bank_serial_no = `,
              ),
            );
        for (const plan of [plans[2], plans[5]]) expect(plan).to.include('receipts_by_line');
      });

      it('find the transfers of a line by its id', async () => {
        const plans = await plansOf(async (transfers) => {
          await transfers.hasPaid(lineId, 'S-1');
          await transfers.lastOf([lineId]);
        });
        expect(plans).to.have.length(2);
        for (const plan of plans) expect(plan).to.include('receipts_by_line').and.not.match(SCAN);
      });
    });
  });
});
