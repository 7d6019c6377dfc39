import { expect } from 'chai';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import type { PaymentLinePatch } from '../../data-plane-agent/plane/contract/records/lines.js';
import type { Level } from '../../server/access/permissions.js';
import type { Principal } from '../../server/access/principal.js';
import { DEFAULT_SETTINGS } from '../../server/access/settings.js';
import { checkLineRights, checkPatchRights } from '../../server/endpoints/line-rights.js';

describe('rights on the fields of a payment line', () => {
  it('receipt fields need payment_entry, invoice fields need invoice, and the plan needs neither', () => {
    for (const check of [patchRefusal, entryRefusal]) {
      expect(check({ receivedAmount: 1 }, { invoice: 'edit' })).to.equal('payment_entry (edit)');
      expect(check({ proof: 'id' }, { payment_entry: 'view' })).to.equal('payment_entry (edit)');
      expect(check({ invoiceNo: 'F-1' }, { payment_entry: 'edit', invoice: 'view' })).to.equal('invoice (edit)');
      expect(check({ invoiceNo: 'F-1', receivedAmount: 1 }, { payment_entry: 'edit', invoice: 'edit' })).to.equal(undefined);
      expect(check({ amount: 5, period: 'x', dueDate: '2026-01-01', currencyCode: 'CNY' }, {})).to.equal(undefined);
    }
  });

  it('to clear a field is to change it, but a new line without one has none', () => {
    for (const cleared of [{ receivedAmount: 0 }, { receivedAmount: null }, { bankSerialNo: null }]) {
      expect(patchRefusal(cleared, {})).to.equal('payment_entry (edit)');
      expect(entryRefusal(cleared, {})).to.equal(undefined);
    }
    expect(patchRefusal({ invoiceAmount: null }, { payment_entry: 'edit' })).to.equal('invoice (edit)');
  });
});

type Levels = Partial<Principal['permissions']>;
const patchRefusal = (patch: PaymentLinePatch, levels: Levels) => refused(() => checkPatchRights(withLevels(levels), patch));
const entryRefusal = (line: PaymentLinePatch, levels: Levels) => refused(() => checkLineRights(withLevels(levels), [{}, line]));

/** What the 403 names. */
function refused(check: () => void): unknown {
  try {
    check();
  } catch (error) {
    if (isFailure(error, 'FORBIDDEN')) return error.details.needs;
    throw error;
  }
  return undefined;
}

function withLevels(levels: Levels): Principal {
  const none: Level = 'none';
  return {
    sessionId: 'session',
    tenant: { id: 'tenant', slug: 'tenant', name: 'Tenant', plan: 'business' },
    user: { id: 'user', email: 'user@tenant.test', name: 'User', roleCode: 'custom', subjectScope: null },
    permissions: { contract_view: none, contract_edit: none, contract_delete: none, payment_entry: none, invoice: none, export: none, collection: none, admin: none, custom_fields: none, sensitive_data: none, ...levels },
    controls: {},
    features: { apiAccess: true, workflowAutomation: true, customFields: true, aiGateway: false },
    settings: DEFAULT_SETTINGS,
    enrolmentDue: false,
    ownPages: false,
  };
}
