import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { Warning } from '../../data-plane-agent/plane/contract/records/common.js';
import type { ContractDetail, ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { ImportReport } from '../../data-plane-agent/plane/contract/records/imports.js';
import type {
  PaymentLineInput,
  PaymentLineResult,
  ReceiptPage,
} from '../../data-plane-agent/plane/contract/records/lines.js';
import { makeMember, makeTenant, OPERATOR, signIn, type MadeTenant } from '../support/accounts.js';
import { fakeClock } from '../support/clock.js';
import { namedFields, type Client, type DomainError, type FrameworkError } from '../support/http.js';
import { aContract, aLine } from '../support/samples.js';
import { forEachServer } from '../support/server.js';

/** The warnings with this code. */
const given = (warnings: readonly Warning[] | undefined, code: string) =>
  (warnings ?? []).filter((warning) => warning.code === code);
const words = (warnings: readonly Warning[] | undefined, code: string) =>
  given(warnings, code).map(({ message }) => message);
/** Warnings without their messages. */
const facts = (warnings: readonly Warning[] | undefined, code: string) =>
  given(warnings, code).map(({ message: _message, code: _code, ...details }) => details);

describe('receipts over HTTP', () => {
  forEachServer(
    (server) => {
      let made: MadeTenant;
      let owner: Client;
      before('a tenant with its owner signed in', async () => {
        made = await makeTenant(server().services);
        owner = (await signIn(server().client, { tenant: made.tenant, member: made.owner })).client;
      });
      const bodyOf = (payments: readonly Partial<PaymentLineInput>[], changes: Partial<ContractInput> = {}) =>
        aContract({
          subjectId: made.subjectId,
          ownerId: made.owner.id,
          payments: payments.map((line, n) => aLine({ period: `P${n}`, ...line })),
          totalAmount: payments.reduce((sum, { amount = 1_000 }) => sum + amount, 0),
          ...changes,
        });
      const enter = async (...sent: Parameters<typeof bodyOf>): Promise<ContractDetail> => {
        const { status, body, text } = await owner.post<ContractDetail>('/contracts', bodyOf(...sent));
        expect(status, text).to.equal(201);
        return body;
      };
      const enterLine = async (line: Partial<PaymentLineInput> = {}): Promise<string> =>
        (await enter([line])).payments[0]?.id ?? '';
      const pay = (paymentId: string, body: object, client = owner) =>
        client.patch<PaymentLineResult>(`/payments/${paymentId}/receipt`, body);
      const add = (paymentId: string, body: unknown, headers: Record<string, string> = {}) =>
        owner.post<PaymentLineResult>(`/payments/${paymentId}/receipts`, body, { headers });

      describe('an added amount', () => {
        it('is added to what was received before, is answered with 201 and the line, and is kept as one receipt', async () => {
          const paymentId = await enterLine({ receivedAmount: 300.1, receivedDate: '2026-03-01' });
          const added = await add(paymentId, {
            amount: 200.2,
            receivedDate: '2026-03-10',
            method: 'wire',
            payerName: '上海远东',
            bankSerialNo: 'A-1',
          });
          expect(added.status, added.text).to.equal(201);
          expect(added.body).to.include({
            id: paymentId,
            receivedAmount: 500.3,
            outstandingAmount: 499.7,
            receivedDate: '2026-03-10',
            method: 'wire',
            payerName: '上海远东',
            bankSerialNo: 'A-1',
            paymentStatus: 'partial',
          });
          expect(added.body.warnings).to.deep.equal([]);
          const { items } = (await owner.get<ReceiptPage>(`/payments/${paymentId}/receipts`)).body;
          expect(items.map(({ delta, total, receivedDate }) => [delta, total, receivedDate])).to.deep.equal([
            [200.2, 500.3, '2026-03-10'],
            [300.1, 300.1, '2026-03-01'],
          ]);
        });

        it('has only the details given with it; the line shows them and keeps its reconciliation', async () => {
          const paymentId = await enterLine();
          const details = { method: 'wire', payerName: '上海远东', receiptAccount: '6222020001', bankSerialNo: 'T2' };
          const reconciled = { reconciliationStatus: 'matched', reconciliationNote: 'by statement 4' };
          await add(paymentId, { amount: 40, ...details, ...reconciled });
          const none = { method: null, payerName: null, receiptAccount: null, bankSerialNo: null };
          const { body } = await add(paymentId, { amount: 60, receivedDate: '2026-03-02' });
          expect(body).to.include({ receivedAmount: 100, ...none, proof: null, ...reconciled });
          const { items } = (await owner.get<ReceiptPage>(`/payments/${paymentId}/receipts`)).body;
          expect(items).to.have.length(2);
          expect(items[0]).to.include({ delta: 60, ...none, proofFileId: null });
          expect(items[1]).to.include({ delta: 40, ...details });
          expect((await add(paymentId, { amount: 1, payerName: 'Ming' })).body).to.include({
            ...none,
            payerName: 'Ming',
          });
          expect((await pay(paymentId, { receivedAmount: 90 })).body, 'a correction keeps them').to.include({
            ...none,
            payerName: 'Ming',
          });
        });

        it('is dated today if no date is given, and makes an overpaid line an exception', async () => {
          const paymentId = await enterLine();
          const { status, body } = await add(paymentId, { amount: 1_000.5 });
          expect([status, body.receivedDate, body.overpaidAmount, body.reconciliationStatus]).to.deep.equal([
            201,
            '2026-03-15',
            0.5,
            'exception',
          ]);
        });

        it('counts once with an idempotency key, and once for each of many requests at the same time', async () => {
          const paymentId = await enterLine();
          const key = { 'Idempotency-Key': `receipt-${newId()}` };
          const [first, again] = [await add(paymentId, { amount: 10 }, key), await add(paymentId, { amount: 10 }, key)];
          expect([first.status, again.status, again.headers.get('idempotency-replayed')]).to.deep.equal([
            201,
            201,
            'true',
          ]);
          expect(again.body).to.deep.equal(first.body);
          const many = await Promise.all(Array.from({ length: 10 }, () => add(paymentId, { amount: 7 })));
          expect(many.map(({ status }) => status)).to.deep.equal(many.map(() => 201));
          const { items } = (await owner.get<ReceiptPage>(`/payments/${paymentId}/receipts`)).body;
          expect([items.length, items[0]?.total]).to.deep.equal([11, 80]);
        });

        it('is refused at 0 or below, with decimals that the currency does not have, and if the total would exceed the limit', async () => {
          const paymentId = await enterLine();
          for (const amount of [0, -5, 1.234, '5', null, undefined])
            expect(
              namedFields(await owner.post<FrameworkError>(`/payments/${paymentId}/receipts`, { amount })),
              String(amount),
            ).to.deep.equal([400, ['amount']]);
          const refund = await owner.post<FrameworkError>(`/payments/${paymentId}/receipts`, { amount: -50 });
          expect(refund.body.message).to.deep.equal([
            'amount must be > 0; a refund or correction is PATCH /payments/:paymentId/receipt with the new total',
          ]);
          expect((await add(paymentId, { amount: 8_999_999_999_999 })).status).to.equal(201);
          const over = await owner.post<FrameworkError>(`/payments/${paymentId}/receipts`, { amount: 2 });
          expect([over.status, over.body.message]).to.deep.equal([
            400,
            ['amount must leave the total received in bounds: it must be <= 9000000000000 in CNY'],
          ]);
          expect(
            namedFields(
              await owner.post<FrameworkError>(`/payments/${paymentId}/receipts`, { amount: 1, receivedAmount: 1 }),
            ),
          ).to.deep.equal([400, ['receivedAmount']]);
        });

        it('needs payment_entry, an existing line and an existing file', async () => {
          const paymentId = await enterLine();
          const viewer = await makeMember(server().services, made, { roleCode: 'viewer' });
          const { client } = await signIn(server().client, { tenant: made.tenant, member: viewer });
          expect((await client.post(`/payments/${paymentId}/receipts`, { amount: 1 })).status).to.equal(403);
          expect((await add(newId(), { amount: 1 })).status).to.equal(404);
          const file = await owner.post<DomainError>(`/payments/${paymentId}/receipts`, { amount: 1, proof: newId() });
          expect([file.status, file.body.error.code]).to.deep.equal([422, 'FILE_REFERENCE_INVALID']);
        });

        it('warns when the line already has a receipt of the same transfer', async () => {
          const paymentId = await enterLine();
          const serial = `T-${newId()}`;
          expect((await add(paymentId, { amount: 10, bankSerialNo: serial })).body.warnings).to.deep.equal([]);
          const { warnings } = (await add(paymentId, { amount: 10, bankSerialNo: serial })).body;
          expect(words(warnings, 'BANK_SERIAL_REUSED')).to.deep.equal([
            'This line already has a receipt of the same bank transfer: check that it was not recorded twice.',
          ]);
          expect(facts(warnings, 'BANK_SERIAL_REUSED')).to.deep.equal([{ paymentIds: [paymentId] }]);
        });
      });

      describe('a total below the previous one', () => {
        const LOWERED =
          'The total received was lowered from 600.00 CNY to 50.50 CNY: receivedAmount is the new total. To add an amount to what was received before, use POST /payments/:paymentId/receipts.';
        const about = (paymentId: string | undefined) => ({
          paymentIds: [paymentId],
          formerAmount: 600,
          receivedAmount: 50.5,
          currencyCode: 'CNY',
        });

        it('is accepted with a warning that names both totals, sent as a receipt, a line or a plan', async () => {
          for (const lower of [
            (line: string) => pay(line, { receivedAmount: 50.5 }),
            (line: string) => owner.patch<PaymentLineResult>(`/payments/${line}`, { receivedAmount: 50.5 }),
          ]) {
            const paymentId = await enterLine({ receivedAmount: 600 });
            const { status, body } = await lower(paymentId);
            expect([status, words(body.warnings, 'RECEIPT_LOWERED')]).to.deep.equal([200, [LOWERED]]);
            expect(facts(body.warnings, 'RECEIPT_LOWERED')).to.deep.equal([about(paymentId)]);
            expect(given((await lower(paymentId)).body.warnings, 'RECEIPT_LOWERED'), 'repeated').to.deep.equal([]);
          }
          const contract = await enter([{ receivedAmount: 600 }, { receivedAmount: 5 }]);
          const { body } = await owner.patch<ContractDetail>(`/contracts/${contract.id}`, {
            payments: [aLine({ period: 'P0', receivedAmount: 50.5 }), aLine({ period: 'P1', receivedAmount: 6 })],
          });
          expect(facts(body.warnings, 'RECEIPT_LOWERED')).to.deep.equal([about(contract.payments[0]?.id)]);
        });
      });

      it('accepts a receipt dated after today in the time zone of the tenant with a warning, from every endpoint', async () => {
        const future = { receivedAmount: 5, receivedDate: '2026-03-16' };
        const details = (paymentId: string | undefined) => [{ paymentIds: [paymentId], today: '2026-03-15' }];
        const about = (answer: { body: { id: string; warnings: Warning[] } }) => [
          facts(answer.body.warnings, 'DATE_IN_FUTURE'),
          details(answer.body.id),
        ];
        const contract = await enter([future]);
        expect(facts(contract.warnings, 'DATE_IN_FUTURE')).to.deep.equal(details(contract.payments[0]?.id));
        for (const answer of [
          await pay(await enterLine(), future),
          await add(await enterLine(), { amount: 5, receivedDate: '2026-03-16' }),
          await owner.patch<PaymentLineResult>(`/payments/${await enterLine()}`, future),
          await owner.post<PaymentLineResult>(
            `/contracts/${contract.id}/payments`,
            aLine({ period: 'new', ...future }),
          ),
        ]) {
          const [found, expected] = about(answer);
          expect(found).to.deep.equal(expected);
          expect(words(answer.body.warnings, 'DATE_IN_FUTURE')).to.deep.equal([
            'receivedDate is in the future: 2026-03-16 is after today, 2026-03-15.',
          ]);
        }
        expect(
          given(
            (await pay(await enterLine(), { ...future, receivedDate: '2026-03-15' })).body.warnings,
            'DATE_IN_FUTURE',
          ),
        ).to.deep.equal([]);
        const plan = await owner.patch<ContractDetail>(`/contracts/${(await enter([{}])).id}`, {
          payments: [aLine({ period: 'P0', ...future })],
        });
        expect(given(plan.body.warnings, 'DATE_IN_FUTURE')).to.have.length(1);
        const report = await owner.post<ImportReport>('/contracts/import', { rows: [bodyOf([future])] });
        expect(given(report.body.rows[0]?.warnings, 'DATE_IN_FUTURE')).to.have.length(1);
      });

      describe('a plan that does not add up to the total of its contract', () => {
        const about = (planAmount: number, totalAmount = 1_000) => [
          { difference: totalAmount - planAmount, totalAmount, planAmount, currencyCode: 'CNY' },
        ];
        const differs = ({ body }: { body: { warnings?: Warning[] } }) =>
          facts(body.warnings, 'PLAN_DIFFERS_FROM_TOTAL');

        it('is reported with the difference when a contract is created, read, updated and restored', async () => {
          const created = await owner.post<ContractDetail>(
            '/contracts',
            bodyOf([{ amount: 400 }, { amount: 500 }], { totalAmount: 1_000 }),
          );
          expect(differs(created)).to.deep.equal(about(900));
          expect(words(created.body.warnings, 'PLAN_DIFFERS_FROM_TOTAL')).to.deep.equal([
            "The payment lines add up to 900.00 CNY, which is 100.00 CNY less than the contract's total of 1000.00 CNY.",
          ]);
          const path = `/contracts/${created.body.id}`;
          expect(differs(await owner.get<ContractDetail>(path))).to.deep.equal(about(900));
          expect(differs(await owner.patch<ContractDetail>(path, { totalAmount: 900 }))).to.deep.equal([]);
          expect(differs(await owner.patch<ContractDetail>(path, { totalAmount: 850 }))).to.deep.equal(about(900, 850));
          const plan = { payments: [aLine({ period: 'P0', amount: 850.01 })] };
          expect(
            differs(await owner.patch<ContractDetail>(path, plan)).map(({ difference }) => difference),
          ).to.deep.equal([-0.01]);
          expect((await owner.delete(path)).status).to.equal(200);
          expect(differs(await owner.post<ContractDetail>(`${path}/restore`))).to.have.length(1);
        });

        it('is reported when a line is added, updated and deleted, and not by a receipt', async () => {
          const contract = await enter([{ amount: 1_000 }]);
          const added = await owner.post<PaymentLineResult>(
            `/contracts/${contract.id}/payments`,
            aLine({ period: 'more', amount: 200 }),
          );
          expect(differs(added)).to.deep.equal(about(1_200));
          const path = `/payments/${added.body.id}`;
          expect(differs(await owner.patch<PaymentLineResult>(path, { amount: 150 }))).to.deep.equal(about(1_150));
          expect(differs(await owner.patch<PaymentLineResult>(path, { period: 'most' }))).to.deep.equal([]);
          expect(differs(await pay(added.body.id, { receivedAmount: 0 }))).to.deep.equal([]);
          const first = await owner.delete<{ ok: boolean; warnings?: Warning[] }>(
            `/payments/${contract.payments[0]?.id}`,
          );
          expect([first.body.ok, differs(first)]).to.deep.equal([true, about(150)]);
          expect((await owner.delete(path)).body, 'without lines there is no plan').to.deep.equal({ ok: true });
        });

        it('is reported by the first row of its contract in an import, and by the preview', async () => {
          const rows = [bodyOf([{ amount: 600 }, { amount: 300 }], { totalAmount: 1_000 }), bodyOf([{}])];
          for (const path of ['/contracts/import/preview', '/contracts/import']) {
            const { body } = await owner.post<ImportReport>(path, { rows });
            expect(body.rows.map(({ warnings }) => differs({ body: { warnings: warnings ?? [] } }))).to.deep.equal([
              about(900),
              [],
            ]);
          }
        });

        it('is not compared if it has several currencies or no lines', async () => {
          const mixed = await enter([{ amount: 400 }, { amount: 600, currencyCode: 'USD' }]);
          expect(mixed.warnings.map(({ code }) => code)).to.deep.equal(['MIXED_CURRENCY']);
          expect((await enter([], { totalAmount: 1_000 })).warnings).to.deep.equal([]);
        });
      });

      describe('a transfer that several lines refer to', () => {
        it('is reported with the sum that these lines have received by it, by currency', async () => {
          const bankSerialNo = `T-${newId()}`;
          const contract = await enter([
            { receivedAmount: 300.25, bankSerialNo },
            { receivedAmount: 100, bankSerialNo, currencyCode: 'USD' },
            { receivedAmount: 50, bankSerialNo: `T-${newId()}` },
          ]);
          const last = await pay(await enterLine(), { receivedAmount: 199.75, bankSerialNo });
          expect(words(last.body.warnings, 'BANK_SERIAL_REUSED')).to.deep.equal([
            `3 payment lines have received 500.00 CNY and 100.00 USD by bank transfer ${bankSerialNo}.`,
          ]);
          const transfers = [
            {
              bankSerialNo,
              lines: 3,
              received: [
                { currencyCode: 'CNY', receivedAmount: 500 },
                { currencyCode: 'USD', receivedAmount: 100 },
              ],
            },
          ];
          expect(facts(last.body.warnings, 'BANK_SERIAL_REUSED')).to.deep.equal([
            { paymentIds: contract.payments.slice(0, 2).map(({ id }) => id), transfers },
          ]);
          const report = await owner.post<ImportReport>('/contracts/import', {
            rows: [bodyOf([{ receivedAmount: 1, bankSerialNo }])],
          });
          expect(given(report.body.rows[0]?.warnings, 'BANK_SERIAL_REUSED')[0]?.transfers?.[0]).to.deep.include({
            bankSerialNo,
            lines: 4,
          });
        });

        it('is reported with the amounts of the bank statement if a line was paid by several transfers', async () => {
          const [earlier, split] = [`T-${newId()}`, `T-${newId()}`];
          const first = await enterLine({ receivedAmount: 25, bankSerialNo: earlier });
          const [second, third] = [await enterLine(), await enterLine()];
          await add(first, { amount: 35, bankSerialNo: split });
          await add(second, { amount: 144, bankSerialNo: split });
          const { body } = await add(third, { amount: 36, bankSerialNo: split });
          const sums = (bankSerialNo: string, lines: number, receivedAmount: number) => [
            { bankSerialNo, lines, received: [{ currencyCode: 'CNY', receivedAmount }] },
          ];
          expect(facts(body.warnings, 'BANK_SERIAL_REUSED')).to.deep.equal([
            { paymentIds: [first, second], transfers: sums(split, 3, 215) },
          ]);
          const again = await add(third, { amount: 4, bankSerialNo: earlier });
          expect(facts(again.body.warnings, 'BANK_SERIAL_REUSED'), 'the transfer before').to.deep.equal([
            { paymentIds: [first], transfers: sums(earlier, 2, 29) },
          ]);
        });

        it('is not summed over lines that the caller may not see', async () => {
          const bankSerialNo = `T-${newId()}`;
          const { id: subjectId } = await server().services.tenants.subjects.add(
            { tenantId: made.tenant.id, name: `S ${newId()}` },
            OPERATOR,
          );
          await enter([{ receivedAmount: 900, bankSerialNo }], { subjectId });
          await enter([{ receivedAmount: 300, bankSerialNo }]);
          const member = await makeMember(server().services, made, {
            roleCode: 'finance',
            subjectScope: [made.subjectId],
          });
          const { client } = await signIn(server().client, { tenant: made.tenant, member });
          const { body } = await pay(await enterLine(), { receivedAmount: 100, bankSerialNo }, client);
          expect(facts(body.warnings, 'BANK_SERIAL_REUSED').map(({ transfers }) => transfers)).to.deep.equal([
            [{ bankSerialNo, lines: 2, received: [{ currencyCode: 'CNY', receivedAmount: 400 }] }],
          ]);
        });
      });
    },
    { clock: fakeClock('2026-03-15T08:00:00.000Z') },
  );
});
