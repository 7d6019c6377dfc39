import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FileRecord } from '../../data-plane-agent/plane/contract/records/files.js';
import type { ExtractionRun } from '../../data-plane-agent/plane/contract/records/extraction.js';
import type { Client } from './http.js';

/** Starts the extraction of a file; the run is `processing`. */
export async function beginReading(
  client: Client,
  { id }: Pick<FileRecord, 'id'>,
  more: object = {},
): Promise<ExtractionRun> {
  const { status, body, text } = await client.post<ExtractionRun>('/contracts/extract', { fileRef: id, ...more });
  expect(status, text).to.equal(201);
  expect(body).to.deep.include({ status: 'processing', fields: [], missingFields: [], warnings: [] });
  return body;
}

/** Polls until a run is finished, like a client. */
export async function untilRead(client: Client, { id }: Pick<ExtractionRun, 'id'>): Promise<ExtractionRun> {
  for (;;) {
    const { status, body, text } = await client.get<ExtractionRun>(`/contracts/extractions/${id}`);
    expect(status, text).to.equal(200);
    if (body.status !== 'processing') return body;
    await sleep(25);
  }
}

export const readFile = async (
  client: Client,
  file: Pick<FileRecord, 'id'>,
  more: object = {},
): Promise<ExtractionRun> => untilRead(client, await beginReading(client, file, more));

/** The extracted values by field. */
export const valuesOf = ({ fields }: ExtractionRun): Record<string, unknown> =>
  Object.fromEntries(fields.map(({ fieldKey, value }) => [fieldKey, value]));
