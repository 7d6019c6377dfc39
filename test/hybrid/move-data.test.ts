import { expect } from 'chai';
import { buffer } from 'node:stream/consumers';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import { generateKeyRingText, parseKeyRing, sha256Hex } from '../../data-plane-agent/base/secrets.js';
import type { ObjectStore } from '../../data-plane-agent/plane/files/objects/object-store.js';
import { openObjectStore } from '../../data-plane-agent/plane/files/objects/open-store.js';
import { completeFigures, enterContract, movableData, rowsOf, type MovableData } from '../support/data-moves.js';
import { sharedMinio } from '../support/minio.js';
import { needsPostgres } from '../support/postgres.js';
import { skip } from '../support/skip.js';
import { addressOf, never } from '../support/stores.js';
import { reachable } from '../support/uploads.js';

type Store = 'a folder' | 'MinIO';
interface Combination {
  readonly database: 'sqlite' | 'postgres';
  readonly link: 'outbound' | 'direct';
  readonly agentStore: Store;
  readonly installationStore: Store;
}

const COMBINATIONS: readonly Combination[] = [
  { database: 'sqlite', link: 'outbound', agentStore: 'a folder', installationStore: 'a folder' },
  { database: 'postgres', link: 'outbound', agentStore: 'a folder', installationStore: 'a folder' },
  { database: 'sqlite', link: 'direct', agentStore: 'a folder', installationStore: 'a folder' },
  { database: 'postgres', link: 'direct', agentStore: 'MinIO', installationStore: 'a folder' },
  { database: 'sqlite', link: 'outbound', agentStore: 'a folder', installationStore: 'MinIO' },
  { database: 'sqlite', link: 'direct', agentStore: 'MinIO', installationStore: 'MinIO' },
];

for (const { database, link, agentStore, installationStore } of COMBINATIONS) {
  describe(`moving contract data out of an agent and back, ${link}, on ${database}, files in ${agentStore} there and in ${installationStore} here`, () => {
    if (database === 'postgres') needsPostgres();
    const movable = movableData();
    let data: MovableData;
    let objectStoreUrl: string | undefined;
    before(async function () {
      this.timeout(180_000); // servers may start slowly on a busy machine
      const bucketOf = async (store: Store): Promise<string | undefined> =>
        store === 'MinIO'
          ? (
              await sharedMinio().catch((error: unknown) =>
                skip(this, error instanceof Error ? error.message : String(error)),
              )
            ).url(`duebook-move-${process.pid}-${++buckets}`)
          : undefined;
      objectStoreUrl = await bucketOf(installationStore);
      const behind = await bucketOf(agentStore);
      if (objectStoreUrl !== undefined) await makeBucket(objectStoreUrl);
      data = await movable.start({
        database,
        objectStoreUrl,
        agent: { accessMode: link, env: behind === undefined ? {} : { OBJECT_STORE_URL: behind } },
      });
    });
    after(() => data?.stop());

    const inAgent = () => rowsOf(data.agent.serving.hosted.database, data.org.tenant.id);
    const inInstallation = async () => {
      const url = data.env['TENANT_DATABASE_URL'] ?? `sqlite:${data.server.config.dataDir}/tenant.db`;
      const opened = await openDatabase(url, { poolMax: 2 });
      try {
        return await rowsOf(opened, data.org.tenant.id);
      } finally {
        await opened.close();
      }
    };
    const objectsInAgent = () => objectsIn(data.agent.serving.hosted.files.objects);
    const objectsInInstallation = () =>
      withStore(objectStoreUrl ?? `file:${data.server.config.dataDir}/files`, objectsIn);

    it('moves all rows and files, and back, and the audit and the exports are the same', async function () {
      this.timeout(240_000);
      await completeFigures(data.agent.serving.hosted.database, data.org.tenant.id);
      const before = await inAgent();
      expect(before['contracts']?.length).to.equal(12);
      expect(before['audit_log']?.length).to.be.greaterThan(20);
      const stored = await objectsInAgent();
      expect(Object.values(stored).toSorted()).to.deep.equal(
        data.files.map(({ bytes }) => sha256Hex(bytes)).toSorted(),
      );
      const exported = await data.run('audit', 'export', '--source', 'data');
      expect(exported.code, exported.stderr).to.equal(0);

      const out = await data.move('--to', 'embedded', '--json');
      expect(out.code, out.stderr).to.equal(0);
      const { move } = JSON.parse(out.stdout) as {
        move: { phase: string; files: number; bytes: number; rows: number };
      };
      expect(move).to.include({
        phase: 'moved',
        files: 2,
        bytes: data.files.reduce((sum, { bytes }) => sum + bytes.length, 0),
      });
      expect(await inInstallation()).to.deep.equal(before);
      expect(await objectsInInstallation()).to.deep.equal(stored);

      const refused = await data.org.asOwner.get('/contracts');
      expect([refused.status, refused.text]).to.satisfy(
        ([status, text]: [number, string]) => status === 409 && text.includes('DATA_MOVED'),
      );
      expect(await inAgent()).to.deep.equal(before);
      expect(await objectsInAgent()).to.deep.equal(stored);

      const early = await data.move('--to', 'agent');
      expect(early.code).to.equal(1);
      expect(early.stderr).to.contain('--delete-source');
      const deleted = await data.move('--delete-source', '--yes');
      expect(deleted.code, deleted.stderr).to.equal(0);
      expect(Object.values(await inAgent()).flat()).to.deep.equal([]);
      expect(await objectsInAgent()).to.deep.equal({});

      const back = await data.move('--to', 'agent');
      expect(back.code, back.stderr).to.equal(0);
      expect(await inAgent()).to.deep.equal(before);
      expect(await objectsInAgent()).to.deep.equal(stored);
      expect((await data.run('audit', 'export', '--source', 'data')).stdout).to.equal(exported.stdout);
      const verified = await data.run('audit', 'verify', '--source', 'data');
      expect(verified.code, verified.stderr).to.equal(0);
    });

    it('has the same files, found by the search, and answers to idempotency keys afterwards', async () => {
      for (const { id, bytes } of data.files) {
        const { body } = await data.org.asOwner.get<{ url: string }>(`/files/${id}/download`);
        const stored = await fetch(reachable(body.url, data.org.asOwner));
        expect(Buffer.from(await stored.arrayBuffer()).equals(Buffer.from(bytes))).to.equal(true);
      }
      const found = await data.org.asOwner.get<{ total: number }>('/contracts', { query: { q: 'M-11' } });
      expect(found.body.total, found.text).to.equal(1);
      const [first] = (await inAgent())['contracts']?.filter((row) => row['contract_no'] === 'M-1') ?? [];
      const again = await enterContract(data.org, 1);
      expect([again.status, again.headers.get('Idempotency-Replayed'), again.body.id]).to.deep.equal([
        201,
        'true',
        first?.['id'],
      ]);
    });
  });
}

let buckets = 0;

/** A service that stores contract data creates it when it starts. */
const makeBucket = (url: string): Promise<void> =>
  withStore(url, async (store) => {
    expect(await store.probe()).to.deep.equal([]);
  });

async function withStore<T>(url: string, use: (store: ObjectStore) => Promise<T>): Promise<T> {
  const { store } = openObjectStore(addressOf(url), {
    publicUrl: 'http://127.0.0.1',
    keyRing: parseKeyRing(generateKeyRingText()),
    clock: systemClock,
  });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** The SHA-256 of each object's bytes, by key. */
async function objectsIn(store: ObjectStore): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for await (const { key, sizeBytes } of store.list('')) {
    const read = await store.read(key, { sizeBytes, signal: never() });
    if (!read) throw new Error(`${key} is listed, and is not there`);
    found[key] = sha256Hex(await buffer(read));
  }
  return found;
}
