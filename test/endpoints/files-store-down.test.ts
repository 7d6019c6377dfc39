import { expect } from 'chai';
import { rename, writeFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { PresignedUpload } from '../../data-plane-agent/plane/contract/records/files.js';
import { administration } from '../support/administration.js';
import { breakableConnectionTo, type BreakableConnection } from '../support/breakable-connection.js';
import { settled } from '../support/file-server.js';
import type { Answer, DomainError } from '../support/http.js';
import { sharedMinio } from '../support/minio.js';
import { startServer, type TestServer } from '../support/server.js';
import { skip } from '../support/skip.js';
import { announcement, uploadsOf } from '../support/uploads.js';

interface Breakable {
  readonly server: TestServer;
  takeAway(): Promise<void>;
  giveBack(): Promise<void>;
  stop(): Promise<void>;
}

const folder = async (): Promise<Breakable> => {
  const server = await startServer();
  const files = join(server.config.dataDir, 'files');
  return {
    server,
    // As an unmounted disk, and a folder that has been replaced by a file.
    takeAway: async () => {
      await rename(files, `${files}-away`);
      await writeFile(files, '');
    },
    giveBack: async () => {
      await rm(files);
      await rename(`${files}-away`, files);
    },
    stop: () => server.stop(),
  };
};

const minio = async (): Promise<Breakable> => {
  const url = new URL((await sharedMinio()).url(`duebook-down-${process.pid}`));
  const connection: BreakableConnection = await breakableConnectionTo(Number(url.port));
  url.port = String(connection.port);
  const server = await startServer({ env: { OBJECT_STORE_URL: url.href } });
  return {
    server,
    takeAway: () => Promise.resolve(connection.pull()),
    giveBack: () => Promise.resolve(connection.putIn()),
    stop: async () => {
      await server.stop();
      await connection.stop();
    },
  };
};

for (const [kind, open] of Object.entries({ 'a folder': folder, minio })) {
  describe(`an unavailable object store, on ${kind}`, function () {
    this.timeout(180_000);
    let store: Breakable;
    let stop: (() => Promise<void>) | undefined;
    before(async function () {
      store = await open().catch((error: unknown) =>
        skip(this, error instanceof Error ? error.message : String(error)),
      );
      stop = store.stop;
      await settled(store.server);
    });
    after(() => stop?.());

    it('is reported at each step, with Retry-After; nothing is lost, and the same call works afterwards', async () => {
      const org = await administration(store.server);
      const uploads = uploadsOf(org.asOwner);
      const kept = await uploads.upload();
      const announced = await uploads.announce();
      await uploads.put(announced);
      const steps: Record<string, () => Promise<Answer<unknown>>> = {
        presign: () => org.asOwner.post<PresignedUpload>('/files/presign', announcement()),
        confirm: () => uploads.confirm(announced),
        download: () => org.asOwner.get(`/files/${kept.id}/download`),
      };
      await store.takeAway();
      for (const [name, step] of Object.entries(steps)) {
        const { status, body, headers } = await step();
        expect([status, (body as DomainError).error.code], name).to.deep.equal([503, 'OBJECT_STORE_UNAVAILABLE']);
        expect(Number(headers.get('retry-after')), name).to.be.within(1, 60);
      }
      expect((await org.asOwner.get(`/files/${kept.id}`)).status, 'the record needs no store').to.equal(200);
      await store.giveBack();
      for (const [name, step] of Object.entries(steps)) expect((await step()).status, name).to.be.oneOf([200, 201]);
    });
  });
}
