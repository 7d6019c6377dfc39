import { expect } from 'chai';
import fc from 'fast-check';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractDetail, ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { WORKFLOW_STAGES } from '../../data-plane-agent/plane/contract/vocabulary.js';
import type { Names } from '../../server/spreadsheets/contract-sheet.js';
import { aField } from '../support/fields.js';
import { aSheet, cellsOf, HARBOUR, MING, ofCsv, PEOPLE, YUANHANG } from '../support/import-samples.js';
import { exported } from '../support/sheet.js';
import { forEachPlane, type MakePlane, type TestPlane } from '../support/plane.js';

const NAMES: Names = {
  subjectName: (id) => PEOPLE.subjects.find((one) => one.id === id)?.name ?? null,
  memberName: (id) => PEOPLE.members.find((one) => one.id === id)?.name ?? null,
  memberEmail: (id) => PEOPLE.members.find((one) => one.id === id)?.email ?? null,
};
const CONTROLS = Object.fromEntries(WORKFLOW_STAGES.map((stage) => [stage, 'admin' as const]));

describe('a full export', () => {
  forEachPlane((_name, makePlane) => {
    it('is imported into another tenant with the same content', async function () {
      this.timeout(180_000);
      await fc.assert(
        fc.asyncProperty(contractsOfTenant, async (contracts) => {
          const [here, there] = [await aTenant(makePlane), await aTenant(makePlane)];
          for (const { custom, ...contract } of contracts)
            await here.plane.createContract({
              ...contract,
              dynamicFields: fieldsFor(here, custom),
              members: PEOPLE.members,
            });
          const csv = await exported(here.plane, { profile: 'full', names: NAMES });
          const report = await there.plane.importContracts(await ofCsv(csv));
          expect(report.failed, JSON.stringify(report.rows.filter(({ errors }) => errors))).to.equal(0);
          expect(report).to.include({ contracts: contracts.length });
          expect(await contentOf(there)).to.deep.equal(await contentOf(here));
        }),
        { numRuns: 4, endOnFailure: true },
      );
    });

    it('has a summary format whose headers an import recognises, and which it imports as far as possible', async () => {
      const here = await aTenant(makePlane);
      await here.plane.importContracts(aSheet([cellsOf()]));
      const report = await here.plane.previewImport(await ofCsv(await exported(here.plane, { names: NAMES })));
      expect(report.unknownColumns).to.deep.equal([]);
      expect(report.missingColumns).to.deep.equal([
        'equipmentName',
        'equipmentModel',
        'quantity',
        'unitPrice',
        'paymentMethod',
      ]);
    });
  });
});

type Tenant = TestPlane & {
  readonly fields: ReadonlyMap<string, string>;
  readonly options: ReadonlyMap<string, string>;
};

async function aTenant(makePlane: MakePlane): Promise<Tenant> {
  const made = makePlane({ controls: CONTROLS });
  const fields = new Map<string, string>();
  const options = new Map<string, string>();
  for (const [code, type] of [
    ['note', 'long_text'],
    ['weight', 'number'],
    ['moved_on', 'date'],
    ['urgent', 'boolean'],
    ['colour', 'select'],
    ['keeper', 'user'],
  ] as const) {
    const field = await aField(made, {
      name: `The ${code}`,
      code,
      type,
      ...(type === 'select' ? { options: [{ label: 'red' }, { label: 'bleu, blanc' }] } : {}),
    });
    fields.set(code, field.id);
    for (const { id, label } of field.options) options.set(label, id);
  }
  return { ...made, fields, options };
}

const fieldsFor = ({ fields, options }: Tenant, custom: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(custom).map(([code, value]) => [
      fields.get(code) ?? '',
      code === 'colour' ? options.get(String(value)) : value,
    ]),
  );

/** A tenant's contracts by number, without ids, versions and times. */
async function contentOf(tenant: Tenant): Promise<unknown[]> {
  const { items } = await tenant.plane.listContracts({ pageSize: 200, sort: 'contractNo' });
  const details: ContractDetail[] = [];
  for (const { id } of items) details.push(await tenant.plane.getContract({ contractId: id }));
  const codes = new Map([...tenant.fields].map(([code, id]) => [id, code]));
  const labels = new Map([...tenant.options].map(([label, id]) => [id, label]));
  return details.map((detail) => ({
    ...withoutOwn({ ...detail, invoices: detail.invoices.toSorted(byNumber) }),
    dynamicFields: Object.fromEntries(
      Object.entries(detail.dynamicFields).map(([id, value]) => [codes.get(id), labels.get(String(value)) ?? value]),
    ),
  }));
}

/** An export sorts lines by date, and so the invoices on them. */
const byNumber = (a: { readonly invoiceNo: string }, b: { readonly invoiceNo: string }): number =>
  a.invoiceNo < b.invoiceNo ? -1 : 1;

const OWN = new Set([
  'id',
  'contractId',
  'lifecycleTemplateId',
  'receivablePlanId',
  'paymentRecordId',
  'createdAt',
  'updatedAt',
  'createdBy',
  'updatedBy',
  'version',
  'warnings',
]);

function withoutOwn(value: unknown): Record<string, unknown> {
  const strip = (one: unknown): unknown =>
    Array.isArray(one)
      ? one.map(strip)
      : typeof one === 'object' && one !== null
        ? Object.fromEntries(
            Object.entries(one)
              .filter(([key]) => !OWN.has(key))
              .map(([key, inner]) => [key, strip(inner)]),
          )
        : one;
  return strip(value) as Record<string, unknown>;
}

/** Texts that a spreadsheet, a CSV or a number parser may misinterpret. */
const aText = fc
  .oneof(
    fc.constantFrom(
      '=1+1',
      "'=x",
      "''@y",
      '+49 30',
      '-5',
      '@home',
      '＝全角',
      '#N/A-like',
      '1,234.50',
      '2026-03-31',
      '007',
      'true',
      'NULL',
      '"quoted"',
      'two\nlines',
      'a;b\tc',
      'a;=b\n-c',
      'x;',
      'a;"@b"',
      '第1期',
      'Ünïcödé 𠮷',
      "it's",
      "'",
      ',',
    ),
    fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' }),
  )
  .map((text) =>
    text
      .replaceAll(/(?!\n)[\p{Cc}\p{Cs}]/gu, '')
      .trim()
      .normalize('NFC'),
  )
  .filter(
    (text) =>
      text !== '' &&
      !text.startsWith('****') &&
      !/^#(N\/A|REF!|VALUE!|DIV\/0!|NULL!|NAME\?|NUM!|SPILL!|CALC!|GETTING_DATA)$/.test(text),
  );
const aDay = fc
  .date({ min: new Date('1990-01-01T00:00:00Z'), max: new Date('2050-12-31T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));
const aCurrency = fc.constantFrom('CNY', 'JPY', 'KWD');
const DECIMALS: Readonly<Record<string, number>> = { CNY: 2, JPY: 0, KWD: 3 };
const anAmount = (currency: string) =>
  fc.integer({ min: 0, max: 10_000_000 }).map((minor) => minor / 10 ** (DECIMALS[currency] ?? 2));
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });

const aLine = (contractCurrency: string): fc.Arbitrary<PaymentLineInput> =>
  optional(aCurrency).chain((own) => {
    const amount = anAmount(own ?? contractCurrency);
    return fc
      .record({
        period: aText,
        dueDate: aDay,
        amount,
        received: optional(
          fc.record({
            receivedAmount: amount.filter((value) => value > 0),
            receivedDate: optional(aDay),
            method: optional(aText),
            payerName: optional(aText),
            receiptAccount: optional(aText),
            bankSerialNo: optional(aText),
            reconciliationStatus: optional(fc.constantFrom('pending', 'matched', 'exception')),
            reconciliationNote: optional(aText),
          }),
        ),
        invoice: optional(
          fc.record({ invoiceAmount: amount.filter((value) => value > 0), invoiceDate: aDay, numbered: fc.boolean() }),
        ),
      })
      .map(
        ({ received, invoice, ...line }) =>
          defined({
            ...line,
            currencyCode: own,
            ...received,
            ...(invoice
              ? {
                  invoiceAmount: invoice.invoiceAmount,
                  invoiceDate: invoice.invoiceDate,
                  ...(invoice.numbered ? { invoiceNo: `F-${newId()}` } : {}),
                }
              : {}),
          }) as unknown as PaymentLineInput,
      );
  });

type TenantContract = ContractInput & { readonly custom: Readonly<Record<string, unknown>> };

const aContract: fc.Arbitrary<TenantContract> = aCurrency.chain((currencyCode) =>
  fc
    .record({
      projectName: aText,
      partyA: aText,
      partyB: aText,
      equipmentName: aText,
      equipmentModel: aText,
      paymentMethod: aText,
      payeeAccount: optional(aText),
      payeeBank: optional(aText),
      paymentCycle: optional(aText),
      remark: optional(aText),
      statusCode: optional(fc.constantFrom('a', 'on hold')),
      type: optional(fc.constantFrom('sale', 'lease')),
      typeCode: optional(fc.constantFrom('sale', 'lease')),
      status: optional(fc.constantFrom('in_progress', 'completed')),
      workflowStage: optional(fc.constantFrom(...WORKFLOW_STAGES)),
      subjectId: fc.constantFrom(HARBOUR.id, YUANHANG.id),
      ownerSuperiorId: optional(fc.constant(MING.id)),
      quantity: fc.integer({ min: 1, max: 1_000 }),
      unitPrice: fc.integer({ min: 0, max: 1_000_000 }).map((micro) => micro / 1_000),
      totalAmount: optional(anAmount(currencyCode)),
      deposit: optional(anAmount(currencyCode)),
      periodicRent: optional(anAmount(currencyCode)),
      invoicePoints: optional(fc.integer({ min: 0, max: 100 })),
      days: fc.tuple(aDay, aDay),
      signDate: optional(aDay),
      roles: optional(fc.subarray(['manager', 'finance', 'sales'])),
      terms: optional(
        fc.array(
          fc
            .record({
              kind: fc.constantFrom('deposit', 'delivery', 'other'),
              title: aText,
              date: optional(aDay),
              note: aText,
            })
            .map(defined),
          { maxLength: 3 },
        ),
      ),
      extraNotes: optional(fc.array(fc.record({ label: aText, value: aText }), { maxLength: 3 })),
      payments: fc.array(aLine(currencyCode), { maxLength: 5 }),
      custom: fc.record(
        {
          note: aText,
          weight: fc.integer({ min: -1_000_000, max: 1_000_000 }).map((n) => n / 1_000),
          moved_on: aDay,
          urgent: fc.boolean(),
          colour: fc.constantFrom('red', 'bleu, blanc'),
          keeper: fc.constantFrom(MING.id),
        },
        { requiredKeys: [] },
      ),
    })
    .map(({ days, roles, ...contract }) => {
      const [startDate = '', endDate = ''] = [...days].toSorted();
      return defined({
        ...contract,
        currencyCode,
        startDate,
        endDate,
        ownerId: MING.id,
        workflowAllowedRoles: roles,
        archiveCode: `A ${newId()}`,
        contractNo: `N ${newId()}`,
      }) as unknown as TenantContract; // the generator knows no literal types
    }),
);
const contractsOfTenant = fc.array(aContract, { minLength: 1, maxLength: 6 });

/** Omitted fields stay omitted. */
function defined<T extends object>(record: T): T {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as T;
}
