import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { administration, type Administration } from '../support/administration.js';
import type { Answer, FrameworkError } from '../support/http.js';
import { aContract, aLine } from '../support/samples.js';
import { forEachServer, startServer } from '../support/server.js';
import { startSiteverify } from '../support/siteverify.js';

const UNKNOWN = 'foo is not a known field';
const messages = ({ status, body }: Answer<FrameworkError>) => [status, [body.message].flat().toSorted()];
const refused = (...lines: string[]) => [400, lines.toSorted()];

forEachServer((server) => {
  describe('one answer reports all bad fields, also beside fields that violate the schema', () => {
    let org: Administration;
    let contractId: string;
    let paymentId: string;
    before(async () => {
      org = await administration(server());
      const { body } = await org.asOwner.post<{ id: string; payments: { id: string }[] }>(
        '/contracts',
        aContract({
          subjectId: org.subjectId,
          ownerId: org.owner.id,
          currencyCode: 'JPY',
          payments: [aLine({ amount: 100 })],
        }),
      );
      contractId = body.id;
      paymentId = body.payments[0]?.id ?? '';
    });
    const contract = (changes: object) => ({
      ...aContract({ subjectId: org.subjectId, ownerId: org.owner.id }),
      ...changes,
    });
    const post = async (path: string, body: object) => messages(await org.asOwner.post<FrameworkError>(path, body));
    const patch = async (path: string, body: object) => messages(await org.asOwner.patch<FrameworkError>(path, body));

    it('amounts of a new contract and its lines, in their intended currency', async () => {
      expect(
        await post(
          '/contracts',
          contract({
            foo: 1,
            totalAmount: 1.234,
            unitPrice: 0.12345678,
            startDate: '2026-05-01',
            endDate: '2026-04-01',
          }),
        ),
      ).to.deep.equal(
        refused(
          UNKNOWN,
          'totalAmount must have at most 2 decimals in CNY',
          'unitPrice must have at most 6 decimals',
          'endDate must not be before startDate',
        ),
      );
      expect(
        await post(
          '/contracts',
          contract({
            currencyCode: 'jpy',
            deposit: 1.5,
            contractNo: '',
            payments: [
              aLine({ amount: 1.5 }),
              aLine({ amount: 1.25, currencyCode: 'EUR', receivedAmount: 1.255 }),
              { ...aLine(), dueDate: 'soon' },
            ],
          }),
        ),
      ).to.deep.equal(
        refused(
          'contractNo must not be empty',
          'deposit must have at most 0 decimals in JPY',
          'payments[0].amount must have at most 0 decimals in JPY',
          'payments[1].receivedAmount must have at most 2 decimals in EUR',
          'payments[2].dueDate must be a calendar date like 2026-03-31',
        ),
      );
    });

    it('no amounts in an unknown currency, and no field twice', async () => {
      expect(
        await post(
          '/contracts',
          contract({ currencyCode: 'XYZ', totalAmount: 1.234, deposit: '1.234', payments: [aLine({ amount: 1.234 })] }),
        ),
      ).to.deep.equal(refused('currencyCode must be an ISO 4217 currency code like EUR', 'deposit must be a number'));
      expect(
        await post('/contracts', contract({ startDate: 'x', endDate: '2020-01-01', totalAmount: -1.234 })),
      ).to.deep.equal(refused('startDate must be a calendar date like 2026-03-31', 'totalAmount must be >= 0'));
    });

    it('changed amounts, in the currency of the record', async () => {
      expect(
        await patch(`/contracts/${contractId}`, { foo: 1, deposit: 1.5, payments: [{ ...aLine({ amount: 2.5 }) }] }),
      ).to.deep.equal(
        refused(
          UNKNOWN,
          'deposit must have at most 0 decimals in JPY',
          'payments[0].amount must have at most 0 decimals in JPY',
        ),
      );
      expect(await patch(`/contracts/${contractId}`, { foo: 1, currencyCode: 'EUR', deposit: 1.505 })).to.deep.equal(
        refused(UNKNOWN, 'deposit must have at most 2 decimals in EUR'),
      );
      expect(await patch(`/contracts/${contractId}`, { foo: 1, endDate: '1990-01-01' })).to.deep.equal(
        refused(UNKNOWN, 'endDate must not be before startDate'),
      );
      expect(await post(`/contracts/${contractId}/payments`, { ...aLine({ amount: 1.5 }), foo: 1 })).to.deep.equal(
        refused(UNKNOWN, 'amount must have at most 0 decimals in JPY'),
      );
      expect(await patch(`/payments/${paymentId}`, { foo: 1, amount: 1.5 })).to.deep.equal(
        refused(UNKNOWN, 'amount must have at most 0 decimals in JPY'),
      );
      expect(await patch(`/payments/${paymentId}/receipt`, { foo: 1, receivedAmount: 1.5 })).to.deep.equal(
        refused(UNKNOWN, 'receivedAmount must have at most 0 decimals in JPY'),
      );
      expect(await patch(`/payments/${paymentId}/invoice`, { foo: 1, invoiceAmount: 1.5 })).to.deep.equal(
        refused(UNKNOWN, 'invoiceAmount must have at most 0 decimals in JPY'),
      );
      expect(
        await post(`/contracts/${contractId}/invoices`, {
          invoiceNo: 'A1',
          invoiceAmount: 1.5,
          foo: 1,
          taxRate: 1.23456789,
        }),
      ).to.deep.equal(
        refused(UNKNOWN, 'invoiceAmount must have at most 0 decimals in JPY', 'taxRate must have at most 6 decimals'),
      );
      const { body: invoice } = await org.asOwner.post<{ id: string }>(`/contracts/${contractId}/invoices`, {
        invoiceNo: 'A1',
        invoiceAmount: 1,
      });
      expect(
        await patch(`/contracts/${contractId}/invoices/${invoice.id}`, { invoiceAmount: 1.5, foo: 1 }),
      ).to.deep.equal(refused(UNKNOWN, 'invoiceAmount must have at most 0 decimals in JPY'));
    });

    it('nothing about a record that is missing or invisible to the caller', async () => {
      const outOfScope = await org.join({ roleCode: 'finance', subjectScope: [] });
      for (const [client, id] of [
        [org.asOwner, newId()],
        [outOfScope.client, paymentId],
      ] as const) {
        expect(
          messages(await client.patch<FrameworkError>(`/payments/${id}/receipt`, { foo: 1, receivedAmount: 1.234 })),
        ).to.deep.equal(refused(UNKNOWN));
      }
    });

    it('contradictions in the configuration, views, moves, extractions and imports', async () => {
      const {
        body: { templates },
      } = await org.asOwner.get<{ templates: { id: string }[] }>('/contract-config/catalog');
      const template = `/contract-config/lifecycle/templates/${templates[0]?.id ?? ''}`;
      expect(
        await post(`${template}/transitions`, {
          code: 'x_y',
          name: 'X',
          fromStageCode: 'draft',
          toStageCode: 'draft',
          conditions: { minAmount: 2, maxAmount: 1, requireFields: ['nothing'] },
          foo: 1,
        }),
      ).to.deep.equal(
        refused(
          UNKNOWN,
          'toStageCode must not be fromStageCode',
          'conditions.maxAmount must not be less than minAmount',
          'conditions.requireFields[0] must be a field of a contract that can be sent with it, or dynamicFields.<id>',
        ),
      );
      expect(
        await post(`${template}/stages`, { code: 'x_y', name: 'X', completionRules: { minAmount: 1.23456 }, foo: 1 }),
      ).to.deep.equal(refused(UNKNOWN, 'completionRules.minAmount must have at most 4 decimals'));
      expect(
        await post('/saved-views/contracts', {
          name: 'A',
          mode: 'table',
          groupBy: 'moon',
          filters: { nothing: 1 },
          sortKey: 'contractNo',
          visibleFields: [],
          cardFields: [],
          foo: 1,
        }),
      ).to.deep.equal(
        refused(
          UNKNOWN,
          'filters.nothing is not a known filter',
          'groupBy must be a field of contracts, payment, the id of a custom field, or none',
        ),
      );
      expect(await post(`/contracts/${contractId}/workflow/transition`, { foo: 1 })).to.deep.equal(
        refused(UNKNOWN, 'transitionCode must be given, or toStageCode'),
      );
      expect(await post('/contracts/extract', { foo: 1, text: 'x', fileRef: 'y' })).to.deep.equal(
        refused(UNKNOWN, 'fileRef must be left out when text is given'),
      );
      expect(await post('/contracts/import', { foo: 1, csv: 'a', xlsxBase64: 'b' })).to.deep.equal(
        refused(UNKNOWN, 'csv must not be given together with xlsxBase64'),
      );
      expect(
        await patch('/tenant-admin/roles/sales/workflow-controls', {
          controls: { nothing: 'view', draft: 'none' },
          foo: 1,
        }),
      ).to.deep.equal(refused(UNKNOWN, 'controls.nothing is not a known field'));
    });

    it('the payload of a command, and the position of a field', async () => {
      expect(
        await post('/dynamic-fields/commands', { type: 'RenameField', payload: { colour: 1, required: true } }),
      ).to.deep.equal(
        refused(
          'payload.colour is not a known field',
          'payload.required is not a known field',
          'payload.fieldId is required',
          'payload.name is required',
        ),
      );
      expect(
        await post('/dynamic-fields/commands', {
          type: 'MoveField',
          payload: { order: 1, afterFieldId: newId(), beforeFieldId: 5 },
        }),
      ).to.deep.equal(
        refused(
          'payload.beforeFieldId must be a string',
          'payload.fieldId is required',
          'payload.afterFieldId cannot be combined with order',
        ),
      );
      expect(await post('/dynamic-fields/commands', { type: 'MoveField', payload: { order: 'first' } })).to.deep.equal(
        refused('payload.fieldId is required', 'payload.order must be a whole number'),
      );
    });

    it('channels and connections', async () => {
      const channels = '/tenant-admin/notification-channels';
      expect(
        await post(channels, { kind: 'webhook', secret: 'a', clearSecret: true, isDefault: true, enabled: false }),
      ).to.deep.equal(
        refused(
          'clearSecret must not be true together with a secret',
          'isDefault must not be true for a disabled channel',
          'target is required: a webhook channel needs an https URL',
        ),
      );
      expect(await post(channels, { kind: 'slack', target: 'nowhere', foo: 1 }))
        .to.include.members([400])
        .and.to.satisfy(
          ([, lines]: [number, string[]]) => lines.length === 2 && lines.some((line) => line.startsWith('target ')),
        );
      expect(await post(channels, { kind: 'email', target: 'nobody', name: '', foo: 1 })).to.deep.equal(
        refused(UNKNOWN, 'target must be email addresses, separated by commas'),
      );
      expect(await post('/tenant-admin/data-plane', { kind: 'agent', accessMode: 'direct', foo: 1 })).to.deep.equal(
        refused(UNKNOWN, 'endpoint is required if accessMode is direct'),
      );
    });
  });
});

describe('a missing challengeToken is reported beside other errors', () => {
  it('beside bad fields, unknown ones, and without a body; once, and without a message about an invalid token', async () => {
    const siteverify = await startSiteverify();
    const server = await startServer({
      env: {
        BOT_CHALLENGE_PROVIDER: 'turnstile',
        BOT_CHALLENGE_SECRET: 'secret',
        BOT_CHALLENGE_VERIFY_URL: siteverify.url,
      },
    });
    try {
      const post = async (path: string, body: unknown) =>
        messages(await server.client.post<FrameworkError>(path, body));
      const account = {
        tenantName: 'Acme',
        tenantSlug: 'acme-one',
        adminName: 'Ann',
        email: 'ann@acme.test',
        password: 'a long enough password',
      };
      expect(await post('/auth/register', { ...account, adminName: 'A' })).to.deep.equal(
        refused('adminName must have at least 2 characters', 'challengeToken is required'),
      );
      expect(await post('/auth/login', { tenantSlug: 'acme', email: 'nobody', password: 'x', foo: 1 })).to.deep.equal(
        refused(UNKNOWN, 'email must be an email address', 'challengeToken is required'),
      );
      expect(await post('/auth/password-reset/request', {})).to.deep.equal(
        refused('tenantSlug is required', 'email is required', 'challengeToken is required'),
      );
      expect(await post('/auth/register', { ...account, adminName: 'A', challengeToken: 5 })).to.deep.equal(
        refused('adminName must have at least 2 characters', 'challengeToken must be a string'),
      );
      expect(await post('/auth/register', { ...account, adminName: 'A', challengeToken: 'good' })).to.deep.equal(
        refused('adminName must have at least 2 characters'),
      );
      expect((await post('/auth/login', []))[1]).to.have.length(1);
    } finally {
      await server.stop();
      await siteverify.stop();
    }
  });

  it('and not if the challenge is disabled', async () => {
    const server = await startServer();
    try {
      expect(
        messages(
          await server.client.post<FrameworkError>('/auth/login', {
            tenantSlug: 'acme',
            email: 'nobody',
            password: 'x',
          }),
        ),
      ).to.deep.equal(refused('email must be an email address'));
    } finally {
      await server.stop();
    }
  });
});
