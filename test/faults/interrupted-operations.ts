import { expect } from 'chai';
import SqliteConnection from 'better-sqlite3';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ExtractionRun } from '../../data-plane-agent/plane/contract/records/extraction.js';
import type { FileRecord } from '../../data-plane-agent/plane/contract/records/files.js';
import type { ImportReport } from '../../data-plane-agent/plane/contract/records/imports.js';
import type { Administration } from '../support/administration.js';
import { ONE_CONTRACT_TEXT, TYPES } from '../support/documents/one-contract.js';
import type { Answer, Client, DomainError } from '../support/http.js';
import { until } from '../support/joined-agent.js';
import { aContract, aLine } from '../support/samples.js';
import { announcement, uploadsOf } from '../support/uploads.js';

/** What has been interrupted: sent with its key as often as needed, it is done once. */
export interface Asked {
  send(key: string): Promise<Answer<unknown>>;
  /** Once it was acknowledged. `acknowledged` is the last answer. */
  check(acknowledged: Answer<unknown>): Promise<void>;
}

export interface Operation {
  readonly name: 'confirmFile' | 'extractContract' | 'importContracts';
  /** How long what a process that died was doing is reserved for it, at most. */
  readonly reservedMs: number;
  /** What one request needs before it. */
  prepare(place: Place): Promise<Asked>;
}

export interface Place {
  readonly api: Client;
  readonly org: Administration;
  /** The agent's directory. */
  readonly dataDir: string;
  /** The agent completes readings that were lost. */
  readDocuments(): Promise<void>;
}

const SOURCE = { fileName: 'contract.txt', contentType: TYPES.text, bytes: Buffer.from(ONE_CONTRACT_TEXT) };

/** The objects of a file-system store below a folder. */
async function objectsIn(dataDir: string, area: 'uploads' | 'tenants'): Promise<string[]> {
  const found = await readdir(join(dataDir, 'files', area), { recursive: true, withFileTypes: true }).catch(() => []);
  return found.filter((entry) => entry.isFile()).map(({ name }) => name);
}

export const OPERATIONS: readonly Operation[] = [
  {
    name: 'confirmFile',
    reservedMs: 20_000,
    prepare: async ({ api, org, dataDir }) => {
      const made = await api.post<{ id: string }>(
        '/contracts',
        aContract({ subjectId: org.subjectId, ownerId: org.owner.id }),
      );
      expect(made.status, made.text).to.equal(201);
      const contractId = made.body.id;
      const file = { ...SOURCE, contractId };
      const uploads = uploadsOf(api);
      const announced = await uploads.announce(file);
      expect((await uploads.put(announced, file.bytes)).status).to.equal(200);
      const { bucket, objectKey, uploadToken } = announced;
      return {
        send: (key) =>
          api.post('/files/confirm', { ...announcement(file), bucket, objectKey, uploadToken }, keyed(key)),
        check: async ({ body }) => {
          const { id } = body as FileRecord;
          const listed = await api.get<FileRecord[]>(`/contracts/${contractId}/files`);
          expect(listed.body.map((file) => file.id)).to.deep.equal([id]);
          const { url } = (await api.get<{ url: string }>(`/files/${id}/download`)).body;
          expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(SOURCE.bytes)).to.equal(true);
          const copies = (await objectsIn(dataDir, 'tenants')).filter((name) => name.startsWith(id));
          expect(copies.length).to.be.greaterThan(0);
        },
      };
    },
  },
  {
    name: 'extractContract',
    reservedMs: 15 * 60_000,
    prepare: async ({ api, dataDir, readDocuments }) => {
      const file = await uploadsOf(api).upload(SOURCE);
      const before = runsIn(dataDir);
      return {
        send: (key) => api.post('/contracts/extract', { fileRef: file.id }, keyed(key)),
        check: async ({ body }) => {
          const { id } = body as ExtractionRun;
          await until(
            async () => {
              await readDocuments();
              const run = await api.get<ExtractionRun>(`/contracts/extractions/${id}`);
              expect(run.status, run.text).to.equal(200);
              if (run.body.status === 'processing') return false;
              expect(run.body.fields.length, run.text).to.be.greaterThan(0);
              return true;
            },
            'the document was read',
            { ms: 60_000 },
          );
          expect(runsIn(dataDir)).to.equal(before + 1);
        },
      };
    },
  },
  {
    name: 'importContracts',
    reservedMs: 0,
    prepare: async ({ api, org }) => {
      const rows = Array.from({ length: 40 }, () =>
        aContract({ subjectId: org.subjectId, ownerId: org.owner.id, payments: [aLine(), aLine({ period: '2' })] }),
      );
      const total = async () => (await api.get<{ total: number }>('/contracts')).body.total;
      const before = await total();
      return {
        send: (key) => api.post('/contracts/import', { rows }, keyed(key)),
        check: async ({ body }) => {
          expect(body as ImportReport).to.include({ created: rows.length, failed: 0 });
          expect(await total()).to.equal(before + rows.length);
        },
      };
    },
  },
];

const keyed = (key: string) => ({ headers: { 'Idempotency-Key': key } });

function runsIn(dataDir: string): number {
  const database = new SqliteConnection(join(dataDir, 'tenant.db'), { readonly: true });
  try {
    return Number(database.prepare('SELECT count(*) FROM extraction_runs').pluck().get());
  } finally {
    database.close();
  }
}

/** Sends until it is acknowledged; only what tells the client to try again may come before that. */
export async function acknowledged({ send }: Asked): Promise<Answer<unknown>> {
  const key = newId();
  for (let tries = 0; tries < 100; tries += 1) {
    const answer = await send(key);
    if (answer.status < 300) return answer;
    const { code } = (answer.body as DomainError).error;
    expect(code, answer.text).to.be.oneOf([
      'DATA_PLANE_OUTCOME_UNKNOWN',
      'DATA_PLANE_UNAVAILABLE',
      'FILE_BEING_CONFIRMED',
      'IDEMPOTENCY_IN_PROGRESS',
    ]);
    await sleep(100);
  }
  throw new Error('it was never acknowledged');
}
