import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractFile } from '../../data-plane-agent/plane/contract/records/files.js';
import { administration, type Administration } from '../support/administration.js';
import { aContract, aLine } from '../support/samples.js';
import { forEachServer } from '../support/server.js';
import { uploadsOf } from '../support/uploads.js';

interface Made {
  id: string;
  payments: { id: string }[];
}

describe('the files of a contract over HTTP', () => {
  forEachServer((server) => {
    let org: Administration;
    beforeEach('a tenant with its owner signed in', async () => {
      org = await administration(server());
    });
    const created = async <T extends { id: string }>(path: string, body: unknown): Promise<T> => {
      const answer = await org.asOwner.post<T>(path, body);
      expect(answer.status, answer.text).to.equal(201);
      return answer.body;
    };
    const upload = async (fileName: string, place: { contractId?: string; paymentId?: string } = {}) =>
      (await uploadsOf(org.asOwner).upload({ fileName, ...place })).id;
    const enter = (changes: object = {}) =>
      created<Made>(
        '/contracts',
        aContract({ subjectId: org.subjectId, ownerId: org.owner.id, payments: [aLine()], ...changes }),
      );
    const filesOf = async ({ id }: { id: string }, client = org.asOwner): Promise<readonly ContractFile[]> => {
      const { status, body, text } = await client.get<ContractFile[]>(`/contracts/${id}/files`);
      expect(status, text).to.equal(200);
      return body;
    };

    it('are those uploaded for it and those that it, its lines, receipts, invoices, tasks and custom fields refer to', async () => {
      const field = await org.asOwner.post<{ field: { id: string } }>('/dynamic-fields/commands', {
        type: 'CreateField',
        payload: { name: `Scan ${newId().slice(-6)}`, type: 'file' },
      });
      expect(field.status, field.text).to.equal(200);
      const fieldId = field.body.field.id;
      const contract = await enter();
      const paymentId = contract.payments[0]?.id ?? '';
      const names = ['attachment', 'proof', 'invoice', 'record', 'task', 'custom'] as const;
      const ids = new Map<string, string>();
      for (const name of names) ids.set(name, await upload(`${name}.pdf`));
      const file = (name: (typeof names)[number]) => ids.get(name) ?? '';
      const filed = await upload('filed.pdf', { contractId: contract.id });
      const ofLine = await upload('line.pdf', { paymentId });
      for (const [path, body] of [
        [
          `/contracts/${contract.id}`,
          { contractAttachment: file('attachment'), dynamicFields: { [fieldId]: file('custom') } },
        ],
        [`/payments/${paymentId}/receipt`, { receivedAmount: 5, proof: file('proof') }],
        [`/payments/${paymentId}/invoice`, { invoiceAttachment: file('invoice') }],
      ] as const)
        expect((await org.asOwner.patch(path, body)).status, path).to.equal(200);
      const invoice = await created(`/contracts/${contract.id}/invoices`, {
        invoiceNo: 'I-1',
        invoiceAmount: 1,
        attachment: file('record'),
      });
      await created(`/contracts/${contract.id}/invoices`, {
        invoiceNo: 'I-2',
        invoiceAmount: 1,
        attachment: 'in the cupboard',
      });
      const task = await created(`/contracts/${contract.id}/fulfillment-tasks`, {
        code: 'T-1',
        title: 'Deliver',
        attachment: file('task'),
      });
      const found = await filesOf(contract);
      expect(
        Object.fromEntries(
          found.map(({ fileName, attachedTo }) => [
            fileName,
            attachedTo.map(({ record, id, field: at }) => [record, id, at]),
          ]),
        ),
      ).to.deep.equal({
        'custom.pdf': [['contract', contract.id, `dynamicFields.${fieldId}`]],
        'task.pdf': [['task', task.id, 'attachment']],
        'record.pdf': [['invoice', invoice.id, 'attachment']],
        'invoice.pdf': [['payment', paymentId, 'invoiceAttachment']],
        'proof.pdf': [
          ['payment', paymentId, 'proof'],
          ['payment', paymentId, 'receipts'],
        ],
        'attachment.pdf': [['contract', contract.id, 'contractAttachment']],
        'filed.pdf': [],
        'line.pdf': [],
      });
      expect(found.map(({ id }) => id).slice(0, 2), 'newest first').to.deep.equal([ofLine, filed]);
      expect(found[0]).to.include({
        fileName: 'line.pdf',
        paymentId,
        contractId: contract.id,
        sizeBytes: found[1]?.sizeBytes,
      });
    });

    it('are each listed once, without those of other contracts or of deleted lines', async () => {
      const shared = await upload('shared.pdf');
      const contract = await enter({ contractAttachment: shared });
      const other = await enter({ contractAttachment: shared });
      await upload('other.pdf', { contractId: other.id });
      const line = await created(`/contracts/${contract.id}/payments`, aLine({ period: 'gone', proof: shared }));
      expect((await filesOf(contract)).map(({ fileName, attachedTo }) => [fileName, attachedTo.length])).to.deep.equal([
        ['shared.pdf', 2],
      ]);
      expect((await org.asOwner.delete(`/payments/${line.id}`)).status).to.equal(200);
      expect((await filesOf(contract)).map(({ attachedTo }) => attachedTo.length)).to.deep.equal([1]);
      expect(await filesOf(await enter())).to.deep.equal([]);
    });

    it('are visible to callers who may see the contract, and not in the trash', async () => {
      const contract = await enter({ contractAttachment: await upload('a.pdf') });
      expect(await filesOf(contract)).to.have.length(1);
      expect((await org.asOwner.get(`/contracts/${newId()}/files`)).status).to.equal(404);
      expect((await org.asOwner.get('/contracts/nonsense/files')).status).to.equal(404);
      expect((await org.asOwner.delete(`/contracts/${contract.id}`)).status).to.equal(200);
      expect((await org.asOwner.get(`/contracts/${contract.id}/files`)).status).to.equal(404);
    });
  });
});
