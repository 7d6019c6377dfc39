import { expect } from 'chai';
import fc from 'fast-check';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { toMajor } from '../../data-plane-agent/base/money.js';
import { ContractInput, type ContractPatch } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { AmountReader } from '../../data-plane-agent/plane/domain/amounts.js';
import { newContract } from '../../data-plane-agent/plane/domain/contracts/changes.js';
import { isSameContract, patched } from '../../data-plane-agent/plane/domain/contracts/patch.js';
import { changedCoreFields } from '../../data-plane-agent/plane/domain/contracts/core-fields.js';
import type { StageRow } from '../../data-plane-agent/plane/tables/lifecycle.js';
import type { ContractRow } from '../../data-plane-agent/plane/tables/contracts.js';
import { aContract } from '../support/samples.js';

const STAGE: StageRow = {
  id: 's',
  templateId: 't',
  code: 'draft',
  name: 'Draft',
  category: 'draft',
  position: 10,
  isTerminal: false,
  locksCoreFields: false,
  completionRules: {},
  allowedRoleCodes: [],
  createdAt: 0,
  updatedAt: 0,
};

function row(changes: Partial<ContractInput> = {}): ContractRow {
  const input = aContract({ deposit: 10, periodicRent: 20, remark: 'r', signDate: '2026-01-01', ...changes });
  return newContract({
    id: 'c',
    input,
    type: 'sale',
    stage: STAGE,
    currencyCode: input.currencyCode ?? 'CNY',
    dynamicFields: {},
    amounts: new AmountReader(),
    now: 0,
    actorId: null,
  });
}

function patch(before: ContractRow, changes: ContractPatch): ContractRow {
  const amounts = new AmountReader();
  const after = patched(before, changes, { amounts, defaultCurrency: 'CNY', defaultType: 'lease' });
  amounts.done();
  return after;
}

describe('a patch of a contract', () => {
  it('leaves the contract unchanged when it is empty', () => {
    const before = row();
    expect(patch(before, {})).to.deep.equal(before);
    expect(isSameContract(before, patch(before, {}))).to.equal(true);
  });

  it('changes exactly what it names', () => {
    const before = row();
    const after = patch(before, {
      partyA: 'Other',
      remark: null,
      type: null,
      status: 'completed',
      workflowAllowedRoles: ['sales'],
    });
    expect(after).to.deep.equal({
      ...before,
      partyA: 'Other',
      remark: null,
      type: 'lease',
      status: 'completed',
      allowedRoles: ['sales'],
    });
    expect(isSameContract(before, after)).to.equal(false);
  });

  it('updates the search keys together with the numbers', () => {
    expect(patch(row(), { contractNo: 'ÄB-1', archiveCode: 'Xy' })).to.include({
      contractNo: 'ÄB-1',
      contractKey: 'äb-1',
      archiveCode: 'Xy',
      archiveKey: 'xy',
    });
  });

  it('preserves the amounts when the currency changes and changes back', () => {
    const currency = fc.constantFrom('CNY', 'JPY', 'KWD', 'CLF');
    fc.assert(
      fc.property(
        currency,
        currency,
        fc.integer({ min: 0, max: 1e9 }),
        fc.integer({ min: 1, max: 99 }),
        fc.boolean(),
        (from, to, whole, quantity, isSet) => {
          const before = row({
            currencyCode: from,
            unitPrice: whole,
            quantity,
            deposit: whole,
            ...(isSet ? { totalAmount: whole } : {}),
          });
          const there = patch(before, { currencyCode: to });
          expect(toMajor(there.totalMinor, to)).to.equal(toMajor(before.totalMinor, from));
          expect(patch(there, { currencyCode: from })).to.deep.equal(before);
        },
      ),
    );
  });

  it('reports every invalid field at once', () => {
    try {
      patch(row({ deposit: 0.5 }), { currencyCode: 'JPY', totalAmount: 1.5, periodicRent: 2.5, endDate: '2000-01-01' });
      expect.fail('it was taken');
    } catch (error) {
      if (!isFailure(error, 'INVALID_INPUT')) throw error;
      expect(error.details.issues.map(({ path }) => path)).to.deep.equal([
        'totalAmount',
        'deposit',
        'periodicRent',
        'endDate',
      ]);
    }
  });

  it('leaves the validation of custom values to their definitions', () => {
    const before = { ...row(), dynamicFields: { a: 1 } };
    expect(patch(before, { dynamicFields: { a: 2 } }).dynamicFields).to.deep.equal({ a: 1 });
  });
});

describe('core fields', () => {
  const free: ContractPatch = {
    remark: 'x',
    ownerId: 'o',
    ownerSuperiorId: 'p',
    status: 'completed',
    statusCode: 'z',
    dynamicFields: { a: 1 },
    invoicePoints: 3,
    contractAttachment: 'f',
  };

  it('are exactly those of the specification, and each one that changes is listed', () => {
    const before = row();
    const other: ContractPatch = {
      archiveCode: 'o',
      contractNo: 'o',
      projectName: 'o',
      type: 'lease',
      typeCode: 'o',
      subjectId: 'o',
      partyA: 'o',
      partyB: 'o',
      equipmentName: 'o',
      equipmentModel: 'o',
      quantity: 7,
      unitPrice: 7,
      totalAmount: 7,
      currencyCode: 'EUR',
      paymentMethod: 'o',
      payeeAccount: 'o',
      payeeBank: 'o',
      deposit: 7,
      periodicRent: 7,
      paymentCycle: 'o',
      signDate: '2026-02-02',
      startDate: '2026-02-02',
      endDate: '2026-02-03',
      workflowAllowedRoles: ['o'],
    };
    expect(changedCoreFields(other, before, patch(before, other))).to.deep.equal(Object.keys(other));
    for (const [field, value] of Object.entries(other))
      expect(changedCoreFields({ [field]: value }, before, patch(before, { [field]: value }))).to.deep.equal([field]);
  });

  it('include neither unchanged values nor other fields', () => {
    const before = row();
    expect(
      changedCoreFields(
        { partyA: before.partyA, deposit: 10, unitPrice: 5_000.0 },
        before,
        patch(before, { partyA: before.partyA, deposit: 10, unitPrice: 5_000 }),
      ),
    ).to.deep.equal([]);
    expect(changedCoreFields(free, before, patch(before, free))).to.deep.equal([]);
  });

  it('and free fields together are all fields that a patch accepts', () => {
    const elsewhere = ['workflowStage', 'lifecycleTemplateId', 'lifecycleStageCode', 'payments', 'terms', 'extraNotes'];
    const core = Object.keys(ContractInput.properties).filter(
      (field) => !(field in free) && !elsewhere.includes(field),
    );
    expect(core).to.have.length(24);
  });
});
