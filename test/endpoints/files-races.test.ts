import { expect } from 'chai';
import { Readable } from 'node:stream';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import type { ExtractionRun } from '../../data-plane-agent/plane/contract/records/extraction.js';
import type { Download, FileRecord } from '../../data-plane-agent/plane/contract/records/files.js';
import {
  ObjectStoreError,
  quarantineKey,
  type ObjectStore,
} from '../../data-plane-agent/plane/files/objects/object-store.js';
import { administration, type Administration } from '../support/administration.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import { asJob, forEachFileServer, objectsOf, ownerOf, settled, until } from '../support/file-server.js';
import type { DomainError } from '../support/http.js';
import { aContract } from '../support/samples.js';
import { announcement, PDF, uploadsOf } from '../support/uploads.js';

const DAY_MS = 86_400_000;
const NOTE = { fileName: 'note.txt', contentType: 'text/plain' };
let clock: FakeClock;

type Step = 'copy' | 'head' | 'read' | 'remove';

/** Steps of the store that are replaced temporarily. */
const replacedSteps: { [K in Step]?: (plain: ObjectStore[K]) => ObjectStore[K] } = {};

const replaceable = (plain: ObjectStore): ObjectStore => ({
  ...plain,
  copy: (...given) => (replacedSteps.copy?.(plain.copy) ?? plain.copy)(...given),
  head: (...given) => (replacedSteps.head?.(plain.head) ?? plain.head)(...given),
  read: (...given) => (replacedSteps.read?.(plain.read) ?? plain.read)(...given),
  remove: (...given) => (replacedSteps.remove?.(plain.remove) ?? plain.remove)(...given),
});

forEachFileServer(
  (server, kind, clamd) => {
    describe('concurrent operations on a file', function () {
      this.timeout(180_000);
      let org: Administration;
      beforeEach(async () => {
        clock.set(Date.now()); // an S3 server uses the real clock
        org = await administration(server());
      });
      const record = async (id: string) => (await (await ownerOf(server(), org)).get<FileRecord>(`/files/${id}`)).body;
      const sweep = (orphans = false) => asJob(server(), org, clock).sweepFiles({ orphans });

      /** Runs `work` with some steps of the store replaced. */
      async function withStep<K extends Step>(
        step: K,
        instead: (typeof replacedSteps)[K],
        work: () => Promise<void>,
      ): Promise<void> {
        replacedSteps[step] = instead;
        try {
          await work();
        } finally {
          delete replacedSteps[step];
        }
      }

      it('an infected file cannot be downloaded even if the store refuses to move it, and is moved later', async () => {
        const file = await uploadsOf(org.asOwner).upload({ ...NOTE, bytes: Buffer.from('Beware of the marmalade') });
        await settled(server());
        expect((await record(file.id)).scanStatus).to.equal('clean');
        await clamd().learn(`Marmalade-${kind.length}`, 'marmalade');
        clock.advance(29 * DAY_MS);
        let refusals = 0;
        const refused = () => {
          refusals++;
          return Promise.reject(new ObjectStoreError('denied', 'no space left'));
        };
        await withStep(
          'copy',
          () => refused,
          async () => {
            const reported = await asJob(server(), org, clock)
              .scanFiles({})
              .then(
                () => undefined,
                (error: unknown) => error,
              );
            // Undefined if the server's own job scans the file first, and meets the same refusal, perhaps later.
            if (reported !== undefined)
              expect(isFailure(reported, 'OBJECT_STORE_UNAVAILABLE'), 'of the store').to.equal(true);
            await until(
              async () => refusals,
              (so) => so > 0,
            );
          },
        );
        expect((await record(file.id)).scanStatus).to.equal('infected');
        const asOwner = await ownerOf(server(), org);
        expect((await asOwner.get(`/files/${file.id}/download`)).status).to.equal(403);
        expect((await sweep()).removed).to.equal(1);
        expect(await objectsOf(server(), org)).to.deep.equal([quarantineKey(org.tenant.id, file.id)]);
        expect((await asOwner.get(`/files/${file.id}/download`)).status).to.equal(403);
      });

      it('a late confirmation does not affect the file of an earlier one', async () => {
        const uploads = uploadsOf(org.asOwner);
        const [first, second] = [Buffer.from('MZ\0\0\0\0binary'.padEnd(200)), Buffer.from('a note'.padEnd(200))];
        const announced = await uploads.announce({ ...NOTE, bytes: first });
        await uploads.put(announced, first);
        const { asked, goOn, gate } = gated();
        // The first finds a binary file, and pauses before it removes its copy.
        await withStep(
          'remove',
          (plain) => async (key) => {
            if (key.startsWith('tenants/') && !asked.is) {
              asked.is = true;
              await gate;
            }
            return plain(key);
          },
          async () => {
            const late = uploads.confirm(announced, { ...NOTE, bytes: first });
            await until(
              () => Promise.resolve(asked.is),
              (is) => is,
            );
            // It has expired and has no record.
            clock.advance(60_000);
            expect((await uploads.put(announced, second)).status).to.equal(200);
            const made = await uploads.confirm(announced, { ...NOTE, bytes: second });
            expect(made.status, made.text).to.equal(201);
            goOn();
            const { status, body } = await late;
            expect([status, (body as unknown as DomainError).error.code]).to.deep.equal([422, 'FILE_CONTENT_MISMATCH']);
            await settled(server());
          },
        );
        const { body, status } = await org.asOwner.get<Download>(`/files/${announced.fileId}/download`);
        expect(status, JSON.stringify(body)).to.equal(200);
        expect(await objectsOf(server(), org)).to.have.length(1);
        expect(
          (
            await org.asOwner.post('/files/confirm', {
              ...announcement({ ...NOTE, bytes: second }),
              objectKey: announced.objectKey,
              uploadToken: announced.uploadToken,
            })
          ).status,
        ).to.equal(201);
      });

      it('a file whose confirmation ended with its process is confirmed by the next, seconds later', async () => {
        const uploads = uploadsOf(org.asOwner);
        const announced = await uploads.announce();
        await uploads.put(announced);
        await server().foundation.tenant?.write({ tenantId: org.tenant.id }, (tx) =>
          tx.run('UPDATE file_uploads SET claimed_until = ? WHERE id = ?', [clock.now() + 20_000, announced.fileId]),
        );
        clock.advance(21_000);
        expect((await uploads.confirm(announced)).status).to.equal(201);
        expect((await org.asOwner.get(`/files/${announced.fileId}/download`)).status).to.equal(200);
        expect(await sweep(true), 'its copy has a separate name, and is recorded').to.deep.equal({
          removed: 0,
          more: false,
        });
      });

      const infect = (id: string) =>
        server().foundation.tenant?.write({ tenantId: org.tenant.id }, (tx) =>
          tx.run("UPDATE files SET scan_status = 'infected' WHERE tenant_id = ? AND id = ?", [org.tenant.id, id]),
        );

      it('a file that is found infected while a download waits for the store is not delivered', async () => {
        const file = await uploadsOf(org.asOwner).upload();
        await settled(server());
        const { asked, goOn, gate } = gated();
        await withStep(
          'head',
          (plain) => async (key) => {
            asked.is = true;
            await gate;
            return plain(key);
          },
          async () => {
            const download = org.asOwner.get(`/files/${file.id}/download`);
            await until(
              () => Promise.resolve(asked.is),
              (is) => is,
            );
            await infect(file.id);
            goOn();
            expect((await download).status).to.equal(403);
          },
        );
      });

      it('a file that is found infected during a download delivers no further bytes', async () => {
        const file = await uploadsOf(org.asOwner).upload({
          ...NOTE,
          bytes: Buffer.from('SALE CONTRACT\nContract No.: C-77\nTotal price: USD 12,000.00\n'),
        });
        await settled(server());
        const { asked, goOn, gate } = gated();
        await withStep(
          'read',
          (plain) =>
            async (...given) => {
              asked.is = true;
              await gate;
              return plain(...given);
            },
          async () => {
            const run = (await org.asOwner.post<ExtractionRun>('/contracts/extract', { fileRef: file.id })).body;
            await until(
              () => Promise.resolve(asked.is),
              (is) => is,
            );
            await infect(file.id);
            goOn();
            await settled(server());
            const read = (await org.asOwner.get<ExtractionRun>(`/contracts/extractions/${run.id}`)).body;
            expect([read.status, read.fields, read.warnings.map(({ code }) => code)]).to.deep.equal([
              'failed',
              [],
              ['FILE_INFECTED'],
            ]);
          },
        );
      });

      it('an interrupted read during the scan is reported as an unavailable store, and the file is confirmed afterwards', async () => {
        const uploads = uploadsOf(org.asOwner);
        const announced = await uploads.announce();
        await uploads.put(announced);
        const breaksOff = () => () =>
          Promise.resolve(
            Readable.from(
              (function* () {
                yield PDF.subarray(0, 10);
                throw new Error('reset');
              })(),
            ),
          );
        await withStep('read', breaksOff, async () => {
          const { status, body } = await uploads.confirm(announced);
          expect([status, (body as unknown as DomainError).error.code]).to.deep.equal([
            503,
            'OBJECT_STORE_UNAVAILABLE',
          ]);
        });
        expect((await uploads.confirm(announced)).status).to.equal(201);
      });

      it('the default file of a custom field is kept when its contract is deleted', async () => {
        const deleted = (
          await org.asOwner.post<{ id: string }>(
            '/contracts',
            aContract({ subjectId: org.subjectId, ownerId: org.owner.id }),
          )
        ).body.id;
        const [kept, unlinked] = [
          await uploadsOf(org.asOwner).upload({ contractId: deleted }),
          await uploadsOf(org.asOwner).upload({ contractId: deleted }),
        ];
        await settled(server()); // the uploads are removed after the answer; what is left of them would be swept
        const made = await org.asOwner.post('/dynamic-fields/commands', {
          type: 'CreateField',
          payload: { name: 'Terms', type: 'file', defaultValue: kept.id },
        });
        expect(made.status, made.text).to.equal(200);
        await org.asOwner.delete(`/contracts/${deleted}`);
        clock.advance(30 * DAY_MS + 60_000);
        expect((await sweep()).removed, 'within the hour in which the contract may still be restored').to.equal(0);
        clock.advance(DAY_MS);
        expect((await sweep()).removed).to.equal(1);
        const asOwner = await ownerOf(server(), org);
        expect([
          (await asOwner.get(`/files/${kept.id}`)).status,
          (await asOwner.get(`/files/${unlinked.id}`)).status,
        ]).to.deep.equal([200, 404]);
      });

      // SQLite has one writer.
      if (kind === 'postgres and minio')
        it('removing a file with its contract waits for transactions that add a reference to it', async () => {
          const contract = async () =>
            (
              await org.asOwner.post<{ id: string }>(
                '/contracts',
                aContract({ subjectId: org.subjectId, ownerId: org.owner.id }),
              )
            ).body.id;
          const [deleted, live] = [await contract(), await contract()];
          const file = await uploadsOf(org.asOwner).upload({ contractId: deleted });
          await settled(server());
          await org.asOwner.delete(`/contracts/${deleted}`);
          clock.advance(31 * DAY_MS);
          const asOwner = await ownerOf(server(), org);
          let sweeping: Promise<unknown> = Promise.resolve();
          await server().foundation.tenant?.write({ tenantId: org.tenant.id }, async (tx) => {
            // As the check of a reference does before it reads the file.
            await tx.get('SELECT pg_advisory_xact_lock_shared(hashtextextended(?, 0))', [`${org.tenant.id}/files`]);
            sweeping = sweep();
            await new Promise((resolve) => {
              setTimeout(resolve, 500);
            });
            await tx.run('UPDATE contracts SET contract_attachment = ? WHERE tenant_id = ? AND id = ?', [
              file.id,
              org.tenant.id,
              live,
            ]);
          });
          await sweeping;
          expect((await asOwner.get(`/files/${file.id}`)).status).to.equal(200);
        });
    });
  },
  { clock: () => (clock = fakeClock(Date.now())), scans: true, objects: replaceable },
);

function gated(): { readonly asked: { is: boolean }; readonly gate: Promise<void>; goOn(): void } {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  return { asked: { is: false }, gate, goOn: () => open() };
}
