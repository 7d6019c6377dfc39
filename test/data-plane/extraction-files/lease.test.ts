import { expect } from 'chai';
import { Readable } from 'node:stream';
import { createBackground, type Background } from '../../../data-plane-agent/base/background.js';
import { createLog } from '../../../data-plane-agent/base/log.js';
import { generateKeyRingText, parseKeyRing } from '../../../data-plane-agent/base/secrets.js';
import { bind, type BoundPlane } from '../../../data-plane-agent/plane/contract/data-plane.js';
import type { ObjectStore } from '../../../data-plane-agent/plane/files/objects/object-store.js';
import { openFileServices, type OpenedFiles } from '../../../data-plane-agent/plane/files/open-services.js';
import type { DocumentReader } from '../../../data-plane-agent/plane/files/text/index.js';
import { createLocalDataPlane } from '../../../data-plane-agent/plane/local/index.js';
import { OPERATIONS, type Operations } from '../../../data-plane-agent/plane/operations/index.js';
import { fakeClock } from '../../support/clock.js';
import { ONE_CONTRACT_TEXT } from '../../support/documents/one-contract.js';
import { aCall, openTenantDatabase } from '../../support/plane.js';
import { needsPostgres } from '../../support/postgres.js';
import { onFileSystem } from '../../support/stores.js';

const MINUTE_MS = 60_000;

/** A process that shares its database and store with others, and whose reader finishes when the test releases it. */
interface Process {
  readonly plane: BoundPlane<Operations>;
  readonly objects: ObjectStore;
  readonly background: Background;
  /** The documents passed to its reader. */
  readonly reads: number;
  release(): void;
}

for (const database of ['sqlite', 'postgres'] as const) {
  describe(`documents that several processes can read, on ${database}`, function () {
    this.timeout(180_000); // the first load of the reader's libraries takes long
    if (database === 'postgres') needsPostgres();
    const undo: (() => unknown)[] = [];
    const clock = fakeClock();
    let start: () => Process;
    beforeEach(async () => {
      const opened = await openTenantDatabase(database);
      undo.push(opened.close);
      const { address } = await onFileSystem(undo);
      const [call, keyRing, log] = [
        aCall(),
        parseKeyRing(generateKeyRingText()),
        createLog({ level: 'silent', name: 'test' }),
      ];
      const opens = () =>
        openFileServices(
          {
            objectStoreUrl: address,
            publicUrl: 'http://localhost',
            fileMaxBytes: 1_000_000,
            fileContentTypes: ['text/plain'],
            fileScanMode: 'off',
            fileDownloadRequiresCleanScan: true,
            keyRing,
          },
          { clock, log, residentBytes: () => 0 },
        );
      start = () => {
        const files = opens();
        const background = createBackground();
        const { documents, gate } = gated(files);
        undo.push(() => files.close());
        const local = createLocalDataPlane({
          operations: OPERATIONS,
          database: opened.database,
          clock,
          keyRing,
          external: { files: { ...files, documents }, log, afterwards: background.add },
        });
        return {
          plane: bind(local, call, { operations: OPERATIONS }),
          objects: files.objects,
          background,
          get reads() {
            return gate.reads;
          },
          release: gate.open,
        };
      };
    });
    afterEach(async () => {
      for (const step of undo.splice(0).toReversed()) await step();
    });
    const begun = async ({ plane, objects }: Process): Promise<string> => {
      const bytes = Buffer.from(ONE_CONTRACT_TEXT);
      const about = {
        fileName: 'contract.txt',
        contentType: 'text/plain',
        sizeBytes: bytes.length,
        kind: 'contract_original',
      } as const;
      const { objectKey, uploadToken } = await plane.presignFile(about);
      await objects.write(objectKey, Readable.from([bytes]), about);
      const file = await plane.confirmFile({ ...about, objectKey, uploadToken });
      return (await plane.extractContract({ fileRef: file.id })).id;
    };

    it('are read by one process until its lease expires; a slower reader then changes nothing', async () => {
      const [slow, other] = [start(), start()];
      const runId = await begun(slow);
      clock.advance(14 * MINUTE_MS);
      expect(await other.plane.readDocuments({})).to.deep.equal({ read: 0, more: false });
      clock.advance(MINUTE_MS);
      other.release();
      expect(await other.plane.readDocuments({})).to.deep.equal({ read: 1, more: false });
      const read = await other.plane.getExtraction({ runId });
      expect(read.status).to.equal('needs_review');

      clock.advance(MINUTE_MS);
      slow.release();
      await slow.background.settled();
      expect(await other.plane.getExtraction({ runId })).to.deep.equal(read);
      expect([slow.reads, other.reads]).to.deep.equal([1, 1]);
    });

    it('are resumed by one process after an interruption', async () => {
      const dead = start();
      const runId = await begun(dead);
      clock.advance(15 * MINUTE_MS);
      const others = [start(), start(), start()];
      for (const one of others) one.release();
      await Promise.all(others.map(({ plane }) => plane.readDocuments({})));
      expect(others.map(({ reads }) => reads).toSorted((a, b) => a - b)).to.deep.equal([0, 0, 1]);
      expect((await others[0]?.plane.getExtraction({ runId }))?.status).to.equal('needs_review');
      dead.release();
      await dead.background.settled();
    });
  });
}

/** The real reader, blocked until the test releases it. */
function gated({ documents }: OpenedFiles): {
  readonly documents: DocumentReader;
  readonly gate: { readonly reads: number; open(): void };
} {
  let reads = 0;
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return {
    documents: {
      async textOf(content, about) {
        reads += 1;
        await opened;
        return documents.textOf(content, about);
      },
      close: () => documents.close(),
    },
    gate: {
      get reads() {
        return reads;
      },
      open: () => open(),
    },
  };
}
