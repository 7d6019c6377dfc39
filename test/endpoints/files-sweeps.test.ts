import { expect } from 'chai';
import { Readable } from 'node:stream';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { FileRecord } from '../../data-plane-agent/plane/contract/records/files.js';
import { fileKey, quarantineKey } from '../../data-plane-agent/plane/files/objects/object-store.js';
import { administration, type Administration } from '../support/administration.js';
import { EICAR } from '../support/clamd.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import { asJob, filesOf, forEachFileServer, hostedBy, objectsOf, ownerOf, settled } from '../support/file-server.js';
import { aContract, aLine } from '../support/samples.js';
import { PDF, uploadsOf } from '../support/uploads.js';

const DAY_MS = 86_400_000;
let clock: FakeClock;

forEachFileServer(
  (server) => {
    describe('the removal of files', function () {
      this.timeout(180_000);
      let org: Administration;
      beforeEach(async () => {
        clock.set(Date.now()); // an S3 server uses the real clock
        org = await administration(server());
      });
      const contract = async (changes: object = {}) =>
        (
          await org.asOwner.post<{ id: string; payments: { id: string }[] }>(
            '/contracts',
            aContract({ subjectId: org.subjectId, ownerId: org.owner.id, payments: [aLine()], ...changes }),
          )
        ).body;
      const sweep = (orphans = false) => asJob(server(), org, clock).sweepFiles({ orphans });
      const put = (key: string) =>
        filesOf(server()).objects.write(key, Readable.from([PDF]), {
          sizeBytes: PDF.length,
          contentType: 'application/pdf',
        });
      const statusOf = async (id: string) => (await (await ownerOf(server(), org)).get(`/files/${id}`)).status;

      it('removes unconfirmed uploads after a day, with the copies of an interrupted confirmation', async () => {
        const uploads = uploadsOf(org.asOwner);
        const [unconfirmed, copied, empty] = [
          await uploads.announce(),
          await uploads.announce(),
          await uploads.announce(),
        ];
        for (const announced of [unconfirmed, copied]) await uploads.put(announced);
        await put(fileKey(org.tenant.id, copied.fileId, new Date(clock.now()).toISOString()));
        await put(quarantineKey(org.tenant.id, copied.fileId));
        const kept = await uploads.upload();
        await settled(server());
        clock.advance(DAY_MS - 60_000);
        expect(await sweep(true)).to.deep.equal({ removed: 0, more: false });
        clock.advance(120_000);
        expect(await sweep()).to.deep.equal({ removed: 3, more: false });
        expect(await objectsOf(server(), org)).to.have.length(1);
        expect([
          await statusOf(kept.id),
          await statusOf(unconfirmed.fileId),
          await statusOf(empty.fileId),
        ]).to.deep.equal([200, 404, 404]);
        expect(await sweep(true)).to.deep.equal({ removed: 0, more: false });
      });

      it('removes an expired file, without querying tenants that have none', async () => {
        const idle = await administration(server());
        const uploads = uploadsOf(org.asOwner);
        await uploads.put(await uploads.announce());
        const filed = await uploads.upload({ contractId: (await contract()).id });
        const deletedContract = await contract({ contractAttachment: (await uploads.upload()).id });
        await org.asOwner.delete(`/contracts/${deletedContract.id}`);
        await put(quarantineKey(org.tenant.id, newId()));
        await settled(server());
        expect(await objectsOf(server(), org)).to.have.length(4);
        clock.advance(DAY_MS + 16 * 60_000);
        await server().schedules.run('file-sweep');
        expect(await objectsOf(server(), org)).to.have.length(3);
        const dueOf = async ({ tenant }: Pick<Administration, 'tenant'>) =>
          (
            await hostedBy(server()).database.read({ tenantId: tenant.id }, (tx) =>
              tx.all("SELECT kind FROM due_work WHERE tenant_id = ? AND kind LIKE 'file-%' ORDER BY kind", [tenant.id]),
            )
          ).map((row) => row['kind']);
        expect([(await dueOf(org)).includes('file-sweep'), await dueOf(idle)]).to.deep.equal([true, []]);
        await server().schedules.run('file-orphans');
        expect(await objectsOf(server(), org)).to.have.length(2);
        clock.advance(30 * DAY_MS);
        await server().schedules.run('file-sweep');
        expect((await objectsOf(server(), org)).map((key) => key.split('/').at(-1))).to.deep.equal([filed.id]);
      });

      it('removes an object put to an old URL after the confirmation, and keeps the file', async () => {
        const uploads = uploadsOf(org.asOwner);
        const announced = await uploads.announce();
        await uploads.put(announced);
        await uploads.confirm(announced);
        await settled(server());
        expect((await uploads.put(announced)).status).to.equal(200);
        expect(await objectsOf(server(), org)).to.have.length(2);
        clock.advance(DAY_MS + 60_000);
        expect((await sweep()).removed).to.equal(1);
        expect(await objectsOf(server(), org)).to.have.length(1);
        expect((await (await ownerOf(server(), org)).get(`/files/${announced.fileId}/download`)).status).to.equal(200);
      });

      it('removes unreferenced objects after a day, and keeps those of other tenants', async () => {
        const other = await administration(server());
        const theirs = await uploadsOf(other.asOwner).upload();
        const ours = await uploadsOf(org.asOwner).upload();
        for (const key of [
          fileKey(org.tenant.id, newId(), '2026-01-02'),
          `tenants/${org.tenant.id}/2025/12/${ours.id}`,
          quarantineKey(org.tenant.id, newId()),
          quarantineKey(org.tenant.id, ours.id),
          `uploads/${org.tenant.id}/${newId()}`,
        ])
          await put(key);
        clock.advance(DAY_MS + 60_000);
        expect((await sweep(true)).removed).to.equal(5);
        await settled(server());
        expect([(await objectsOf(server(), org)).length, (await objectsOf(server(), other)).length]).to.deep.equal([
          1, 1,
        ]);
        expect(await statusOf(ours.id)).to.equal(200);
        expect(theirs.id).to.be.a('string');
      });

      it('removes files of a deleted contract after thirty days, unless another contract refers to them', async () => {
        const owner = uploadsOf(org.asOwner);
        const named = await owner.upload();
        const proof = await owner.upload({ kind: 'receipt' });
        const shared = await owner.upload();
        const deletedContract = await contract({ contractAttachment: named.id });
        await org.asOwner.patch(`/payments/${deletedContract.payments[0]?.id}/receipt`, {
          receivedAmount: 1,
          proof: proof.id,
        });
        await org.asOwner.patch(`/payments/${deletedContract.payments[0]?.id}/receipt`, {
          receivedAmount: 0,
          proof: proof.id,
        });
        await org.asOwner.post(`/contracts/${deletedContract.id}/invoices`, {
          invoiceNo: newId(),
          invoiceAmount: 5,
          attachment: 'a drawer',
        });
        const filed = await owner.upload({ contractId: deletedContract.id });
        const alsoFiled = await owner.upload({ contractId: deletedContract.id });
        const live = await contract({ contractAttachment: shared.id });
        await org.asOwner.patch(`/contracts/${live.id}`, { contractAttachment: alsoFiled.id });
        const deleted = await org.asOwner.delete(`/contracts/${deletedContract.id}`);
        expect(deleted.status, deleted.text).to.equal(200);
        clock.advance(29 * DAY_MS);
        await sweep();
        for (const { id } of [named, filed, alsoFiled, proof]) expect(await statusOf(id)).to.equal(200);
        clock.advance(2 * DAY_MS);
        await sweep();
        expect([
          await statusOf(named.id),
          await statusOf(filed.id),
          await statusOf(proof.id),
          await statusOf(alsoFiled.id),
          await statusOf(shared.id),
        ]).to.deep.equal([404, 404, 404, 200, 200]);
        expect((await objectsOf(server(), org)).map((key) => key.split('/').at(-1))).to.have.members([
          alsoFiled.id,
          shared.id,
        ]);
      });
    });
  },
  { clock: () => (clock = fakeClock(Date.now())) },
);

forEachFileServer(
  (server) => {
    describe('a quarantined file', () => {
      it('is removed after thirty days, while its record remains with the finding', async () => {
        clock.set(Date.now());
        const org = await administration(server());
        const file = await uploadsOf(org.asOwner).upload({
          fileName: 'note.txt',
          contentType: 'text/plain',
          bytes: Buffer.from(EICAR),
        });
        expect(file.scanStatus).to.equal('infected');
        await settled(server());
        const key = quarantineKey(org.tenant.id, file.id);
        clock.advance(29 * DAY_MS);
        await asJob(server(), org, clock).sweepFiles({ orphans: true });
        expect(await objectsOf(server(), org)).to.deep.equal([key]);
        clock.advance(2 * DAY_MS);
        await server().schedules.run('file-sweep');
        expect(await objectsOf(server(), org)).to.deep.equal([]);
        const after = await ownerOf(server(), org);
        expect((await after.get<FileRecord>(`/files/${file.id}`)).body).to.include({
          scanStatus: 'infected',
          sha256: file.sha256,
        });
        expect((await after.get(`/files/${file.id}/download`)).status).to.equal(403);
      });
    });
  },
  { clock: () => (clock = fakeClock(Date.now())), scans: true },
);
