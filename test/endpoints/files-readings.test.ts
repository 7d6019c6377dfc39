import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FileRecord } from '../../data-plane-agent/plane/contract/records/files.js';
import { administration } from '../support/administration.js';
import { aZip, encryptedZip } from '../support/archives.js';
import { breakableConnectionTo } from '../support/breakable-connection.js';
import { EICAR, needsClamd, startClamd, type TestClamd } from '../support/clamd.js';
import { objectsOf, settled } from '../support/file-server.js';
import { sharedMinio } from '../support/minio.js';
import { startServer, type TestServer } from '../support/server.js';
import { skip } from '../support/skip.js';
import { uploadsOf, type ToUpload } from '../support/uploads.js';

const SIZE = 8_000_000;
/** It is inspected to its end, as its content cannot be compressed. */
const ARCHIVE: ToUpload = {
  fileName: 'evidence.zip',
  contentType: 'application/zip',
  bytes: aZip({ 'evidence.bin': randomBytes(SIZE) }),
};

/** Created once, as compressing so much takes long. */
let packed: Buffer | undefined;
const bomb = (): Buffer => (packed ??= aZip({ 'virus.txt': EICAR, 'zeros.bin': Buffer.alloc(201 * 2 ** 20) }));

interface Counted {
  readonly server: TestServer;
  /** All bytes that the store has delivered so far. */
  bytesRead(): Promise<number>;
  stop(): Promise<void>;
}

type Env = Readonly<Record<string, string>>;

/** Linux counts the bytes that the process has read; socket traffic meanwhile is negligible. */
const inFolder = async (env: Env): Promise<Counted> => {
  const server = await startServer({ env });
  return {
    server,
    bytesRead: async () => Number(/^rchar: (\d+)$/m.exec(await readFile('/proc/self/io', 'utf8'))?.[1]),
    stop: () => server.stop(),
  };
};

const inMinio = async (env: Env): Promise<Counted> => {
  const url = new URL((await sharedMinio()).url(`duebook-read-${process.pid}`));
  const connection = await breakableConnectionTo(Number(url.port));
  url.port = String(connection.port);
  const server = await startServer({ env: { ...env, OBJECT_STORE_URL: url.href } });
  return {
    server,
    bytesRead: () => Promise.resolve(connection.sentBytes),
    async stop() {
      await server.stop();
      await connection.stop();
    },
  };
};

for (const [kind, open, times] of [
  // For the entity tag of the upload, for the copy, and for the inspections.
  ['in a folder', inFolder, 3],
  // The store copies on the server side.
  ['on MinIO', inMinio, 1],
] as const) {
  describe(`a file ${kind}, between its upload and its record`, function () {
    this.timeout(180_000);
    needsClamd();
    let clamd: TestClamd;
    let store: Counted | undefined;
    const counted = (): Counted => {
      if (!store) throw new Error('the server runs in tests, once its suite has begun');
      return store;
    };
    before(async function () {
      if (kind === 'in a folder' && process.platform !== 'linux')
        skip(this, 'what a process has read is told by Linux alone');
      clamd = await startClamd();
      store = await open({ FILE_SCAN_MODE: 'clamav', CLAMAV_URL: clamd.url }).catch((error: unknown) =>
        skip(this, error instanceof Error ? error.message : String(error)),
      );
      await settled(counted().server);
    });
    after(async () => {
      await store?.stop();
      await clamd?.stop();
    });

    it(`is read ${times === 1 ? 'once' : `${times} times`}: one read serves its hash, its content type, the archive limits and the scanner`, async () => {
      const { server, bytesRead } = counted();
      const uploads = uploadsOf((await administration(server)).asOwner);
      const announced = await uploads.announce(ARCHIVE);
      expect((await uploads.put(announced, ARCHIVE.bytes)).status).to.equal(200);
      const before = await bytesRead();
      const { status, body } = await uploads.confirm(announced, ARCHIVE);
      await settled(server);
      const read = (await bytesRead()) - before;
      expect([status, body.scanStatus]).to.deep.equal([201, 'clean']);
      expect(read / SIZE).to.be.within(times, times + 0.2);
    });

    it('is checked in a fixed order: content type, malware, archive limits', async () => {
      const { server } = counted();
      const org = await administration(server);
      const uploads = uploadsOf(org.asOwner);
      // A confirmation does not wait for a slow scan, which then ends in the background.
      const scanned = async (file: ToUpload) => {
        const { id } = await uploads.upload(file);
        await settled(server);
        return (await org.asOwner.get<FileRecord>(`/files/${id}`)).body;
      };
      // Malware of another type than declared is refused, and leaves no record.
      const pretended = { bytes: Buffer.from(EICAR) };
      const announced = await uploads.announce(pretended);
      await uploads.put(announced, pretended.bytes);
      expect(await uploads.confirm(announced, pretended)).to.have.nested.property(
        'body.error.code',
        'FILE_CONTENT_MISMATCH',
      );
      await settled(server);
      expect(await objectsOf(server, org)).to.deep.equal([]);
      // Our own check rejects an archive bomb, which is not sent to the scanner.
      expect(await scanned({ ...ARCHIVE, bytes: bomb() })).to.deep.include({
        scanStatus: 'error',
        scanError: 'The archive unpacks to more than the limit: its content cannot be checked.',
      });
      const locked = await scanned({ ...ARCHIVE, bytes: encryptedZip('a.txt', 'harmless') });
      expect(locked.scanStatus).to.equal('error');
      expect(locked.scanError).to.contain('its content cannot be checked');
      expect(await scanned({ fileName: 'a.txt', contentType: 'text/plain', bytes: Buffer.from(EICAR) })).to.include({
        scanStatus: 'infected',
      });
    });
  });
}
