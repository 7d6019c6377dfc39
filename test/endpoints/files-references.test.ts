import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { administration, type Administration } from '../support/administration.js';
import type { Answer, Client, DomainError } from '../support/http.js';
import { aContract, aLine } from '../support/samples.js';
import { forEachServer } from '../support/server.js';
import { uploadsOf } from '../support/uploads.js';

interface Made {
  id: string;
  payments: { id: string }[];
}

/**
 * Every place where the API accepts a file. Each sends one reference, and returns the name under which it is refused.
 */
const PLACES: Readonly<
  Record<
    string,
    (
      org: Administration,
      contract: Made,
      file: string,
      client: Client,
    ) => Promise<{ answer: Answer<unknown>; field: string }>
  >
> = {
  'a new contract': async (org, _, file, client) => ({
    field: 'contractAttachment',
    answer: await client.post(
      '/contracts',
      aContract({ subjectId: org.subjectId, ownerId: org.owner.id, contractAttachment: file }),
    ),
  }),
  'a contract': async (_, { id }, file, client) => ({
    field: 'contractAttachment',
    answer: await client.patch(`/contracts/${id}`, { contractAttachment: file }),
  }),
  'many contracts': async (_, { id }, file, client) => ({
    field: 'contractAttachment',
    answer: await client.post('/contracts/bulk-attachment', { ids: [id], contractAttachment: file }),
  }),
  'a line of a new contract': async (org, _, file, client) => ({
    field: 'payments[0].proof',
    answer: await client.post(
      '/contracts',
      aContract({
        subjectId: org.subjectId,
        ownerId: org.owner.id,
        payments: [aLine({ receivedAmount: 5, proof: file })],
      }),
    ),
  }),
  'a new line': async (_, { id }, file, client) => ({
    field: 'invoiceAttachment',
    answer: await client.post(`/contracts/${id}/payments`, { ...aLine({ invoiceAmount: 5, invoiceAttachment: file }) }),
  }),
  'a receipt': async (_, { payments }, file, client) => ({
    field: 'proof',
    answer: await client.patch(`/payments/${payments[0]?.id}/receipt`, { receivedAmount: 5, proof: file }),
  }),
  'the invoice of a line': async (_, { payments }, file, client) => ({
    field: 'invoiceAttachment',
    answer: await client.patch(`/payments/${payments[0]?.id}/invoice`, { invoiceAmount: 5, invoiceAttachment: file }),
  }),
  'an invoice': async (_, { id }, file, client) => ({
    field: 'attachment',
    answer: await client.post(`/contracts/${id}/invoices`, { invoiceNo: newId(), invoiceAmount: 5, attachment: file }),
  }),
  'a task': async (_, { id }, file, client) => ({
    field: 'attachment',
    answer: await client.post(`/contracts/${id}/fulfillment-tasks`, {
      code: `t${newId().slice(-8)}`,
      title: 'Deliver',
      kind: 'delivery',
      attachment: file,
    }),
  }),
  'a custom field': async (_, { id }, file, client) => {
    const { body } = await client.post<{ field: { id: string } }>('/dynamic-fields/commands', {
      type: 'CreateField',
      payload: { name: `Scan ${newId().slice(-6)}`, type: 'file' },
    });
    return {
      field: `dynamicFields.${body.field.id}`,
      answer: await client.patch(`/contracts/${id}`, { dynamicFields: { [body.field.id]: file } }),
    };
  },
  'an extraction': async (_, { id }, file, client) => ({
    field: 'fileRef',
    answer: await client.post('/contracts/extract', { contractId: id, fileRef: file }),
  }),
};

/** Where an attachment may be any link to evidence, only one that resembles a file is checked. */
const ANY_TEXT: ReadonlySet<string> = new Set(['an invoice', 'a task']);

forEachServer((server) => {
  describe('a reference to a file', () => {
    let org: Administration;
    let contract: Made;
    before(async () => {
      org = await administration(server());
      contract = (
        await org.asOwner.post<Made>(
          '/contracts',
          aContract({ subjectId: org.subjectId, ownerId: org.owner.id, payments: [aLine()] }),
        )
      ).body;
    });
    const infect = (id: string) =>
      server().foundation.tenant?.write({ tenantId: org.tenant.id }, (tx) =>
        tx.run("UPDATE files SET scan_status = 'infected' WHERE tenant_id = ? AND id = ?", [org.tenant.id, id]),
      );

    for (const [place, send] of Object.entries(PLACES)) {
      it(`in ${place} is accepted for a file, and refused if it is missing, another tenant's, or infected`, async () => {
        const otherTenant = await administration(server());
        const infected = await uploadsOf(org.asOwner).upload();
        await infect(infected.id);
        for (const file of [
          newId(),
          ...(ANY_TEXT.has(place) ? [] : ['no-id']),
          (await uploadsOf(otherTenant.asOwner).upload()).id,
          infected.id,
        ]) {
          const { field, answer } = await send(org, contract, file, org.asOwner);
          if (file === infected.id && place === 'an extraction') {
            expect((answer.body as DomainError).error.code, 'it would be read').to.equal('FILE_INFECTED');
            continue;
          }
          expect(answer.status, `${file} ${answer.text}`).to.equal(422);
          expect((answer.body as DomainError).error).to.deep.include({
            code: 'FILE_REFERENCE_INVALID',
            details: { field, value: file },
          });
        }
        const { answer } = await send(org, contract, (await uploadsOf(org.asOwner).upload()).id, org.asOwner);
        expect(answer.status, answer.text).to.be.oneOf([200, 201]);
      });
    }

    it('to an invisible file is refused: a reference gives no access to a file', async () => {
      const { body: second } = await org.asOwner.post<{ id: string }>('/tenant-admin/subjects', { name: 'Second Ltd' });
      const { body: elsewhere } = await org.asOwner.post<Made>(
        '/contracts',
        aContract({ subjectId: second.id, ownerId: org.owner.id }),
      );
      const hidden = await uploadsOf(org.asOwner).upload({ contractId: elsewhere.id });
      const scoped = await org.join({ roleCode: 'admin', subjectScope: [org.subjectId] });
      for (const [place, send] of Object.entries(PLACES)) {
        const { answer } = await send(org, contract, hidden.id, scoped.client);
        expect((answer.body as DomainError).error?.code, `${place}: ${answer.text}`).to.equal('FILE_REFERENCE_INVALID');
      }
      expect((await scoped.client.get(`/files/${hidden.id}`)).status).to.equal(404);
    });

    it('in a review of an extraction is refused as the contract would refuse it', async () => {
      const { body: run } = await org.asOwner.post<{ id: string }>('/contracts/extract', {
        contractId: contract.id,
        text: 'Contract No.: A-1',
      });
      const review = (fieldKey: string, overrideValue: unknown) =>
        org.asOwner.patch(`/contracts/extractions/${run.id}/review`, {
          fields: [{ fieldKey, status: 'overridden', overrideValue }],
        });
      const there = await uploadsOf(org.asOwner).upload();
      for (const [fieldKey, valueOf, field] of [
        ['contractAttachment', (id: string) => id, 'fields[0].overrideValue'],
        ['payments[0].proof', (id: string) => id, 'fields[0].overrideValue'],
        [
          'payments',
          (id: string) => [aLine({ invoiceAmount: 5, invoiceAttachment: id })],
          'fields[0].overrideValue[0].invoiceAttachment',
        ],
      ] as const) {
        const refused = await review(fieldKey, valueOf('nothing'));
        expect(refused.status, refused.text).to.equal(422);
        expect((refused.body as DomainError).error).to.deep.include({
          code: 'FILE_REFERENCE_INVALID',
          details: { field, value: 'nothing' },
        });
        const taken = await review(fieldKey, valueOf(there.id));
        expect(taken.status, taken.text).to.equal(200);
      }
    });

    it('does not bypass a changed scope or a hidden field', async () => {
      const { body: second } = await org.asOwner.post<{ id: string }>('/tenant-admin/subjects', { name: 'Fourth Ltd' });
      const scoped = await org.join({ roleCode: 'sales', subjectScope: [org.subjectId] });
      const own = await uploadsOf(scoped.client).upload({ subjectId: org.subjectId });
      expect((await scoped.client.get(`/files/${own.id}`)).status).to.equal(200);
      const { body: elsewhere } = await org.asOwner.post<Made>(
        '/contracts',
        aContract({ subjectId: second.id, ownerId: org.owner.id }),
      );
      const hidden = await uploadsOf(org.asOwner).upload({ contractId: elsewhere.id });
      const field = async (visibleRoles: string[]) =>
        (
          await org.asOwner.post<{ field: { id: string } }>('/dynamic-fields/commands', {
            type: 'CreateField',
            payload: { name: `Scan ${newId().slice(-6)}`, type: 'file', visibleRoles },
          })
        ).body.field.id;
      const [visibleToOwners, visibleToAll] = [await field(['owner']), await field([])];
      expect(
        (await org.asOwner.patch(`/contracts/${contract.id}`, { dynamicFields: { [visibleToOwners]: hidden.id } }))
          .status,
      ).to.equal(200);
      for (const path of [
        `/files/${hidden.id}`,
        `/files/${hidden.id}/download`,
        `/files/${hidden.id}/download?contractId=${contract.id}`,
      ])
        expect((await scoped.client.get(path)).status, path).to.equal(404);
      expect((await org.asOwner.get(`/files/${hidden.id}/download?contractId=${contract.id}`)).status).to.equal(200);
      expect(
        (await org.asOwner.patch(`/contracts/${contract.id}`, { dynamicFields: { [visibleToAll]: hidden.id } })).status,
      ).to.equal(200);
      expect((await scoped.client.get(`/files/${hidden.id}`)).status).to.equal(200);

      expect(
        (await org.asOwner.patch(`/tenant-admin/members/${scoped.id}`, { subjectScope: [second.id] })).status,
      ).to.equal(200);
      for (const path of [`/files/${own.id}`, `/files/${own.id}/download`])
        expect((await scoped.client.get(path)).status, path).to.equal(404);
    });

    it('follows its contract to another subject company', async () => {
      const { body: second } = await org.asOwner.post<{ id: string }>('/tenant-admin/subjects', { name: 'Fifth Ltd' });
      const { body: moving } = await org.asOwner.post<Made>(
        '/contracts',
        aContract({ subjectId: org.subjectId, ownerId: org.owner.id }),
      );
      const filed = await uploadsOf(org.asOwner).upload({ contractId: moving.id });
      expect(filed.subjectId).to.equal(org.subjectId);
      expect((await org.asOwner.patch(`/contracts/${moving.id}`, { subjectId: second.id })).status).to.equal(200);
      expect((await org.asOwner.get<{ subjectId: string }>(`/files/${filed.id}`)).body.subjectId).to.equal(second.id);
    });

    it('is not created by a file id within a text, which neither opens nor keeps the file', async () => {
      const { body: second } = await org.asOwner.post<{ id: string }>('/tenant-admin/subjects', { name: 'Third Ltd' });
      const { body: elsewhere } = await org.asOwner.post<Made>(
        '/contracts',
        aContract({ subjectId: second.id, ownerId: org.owner.id }),
      );
      const hidden = await uploadsOf(org.asOwner).upload({ contractId: elsewhere.id });
      const scoped = await org.join({ roleCode: 'admin', subjectScope: [org.subjectId] });
      const field = async (type: string) =>
        (
          await org.asOwner.post<{ field: { id: string } }>('/dynamic-fields/commands', {
            type: 'CreateField',
            payload: { name: `${type} ${newId().slice(-6)}`, type },
          })
        ).body.field.id;
      const [scan, ...texts] = [await field('file'), await field('text'), await field('long_text')];
      for (const said of [hidden.id, `"${scan}":"${hidden.id}"`, `{"${scan}":"${hidden.id}"}`]) {
        for (const text of texts)
          expect(
            (await scoped.client.patch(`/contracts/${contract.id}`, { dynamicFields: { [text]: said }, remark: said }))
              .status,
          ).to.equal(200);
        for (const path of [`/files/${hidden.id}`, `/files/${hidden.id}/download`])
          expect((await scoped.client.get(path)).status, said).to.equal(404);
      }
      expect(
        (await org.asOwner.patch(`/contracts/${contract.id}`, { dynamicFields: { [scan]: hidden.id } })).status,
      ).to.equal(200);
      expect((await scoped.client.get(`/files/${hidden.id}`)).status, 'a file field does').to.equal(200);
    });
  });
});
