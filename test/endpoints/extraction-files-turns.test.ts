import { expect } from 'chai';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { ExtractionRun } from '../../data-plane-agent/plane/contract/records/extraction.js';
import type { FileRecord } from '../../data-plane-agent/plane/contract/records/files.js';
import { administration } from '../support/administration.js';
import { ONE_CONTRACT_AS } from '../support/documents/one-contract.js';
import { forEachFileServer } from '../support/file-server.js';
import type { Client } from '../support/http.js';
import { beginReading, untilRead } from '../support/reading.js';
import { uploadsOf } from '../support/uploads.js';

interface Reader {
  readonly client: Client;
  readonly file: FileRecord;
}

forEachFileServer((server, kind) => {
  describe('ten documents at once, of two organisations', function () {
    this.timeout(180_000); // the first load of the reader's libraries takes long

    const readers: Reader[] = [];
    before(async () => {
      const { fileName, contentType, bytes } = ONE_CONTRACT_AS.PDF;
      for (let i = 0; i < 2; i++) {
        const client = (await administration(server())).asOwner;
        readers.push({ client, file: await uploadsOf(client).upload({ fileName, contentType, bytes: await bytes() }) });
      }
    });

    it('a second organisation with five waits for one document of the first, and other requests are answered meanwhile', async () => {
      const delay = monitorEventLoopDelay({ resolution: 5 });
      delay.enable();
      const begun: { readonly reader: Reader; readonly run: ExtractionRun }[] = [];
      for (const reader of readers)
        for (let i = 0; i < 5; i++) begun.push({ reader, run: await beginReading(reader.client, reader.file) });
      let hasEnded = false;
      const read = Promise.all(
        begun.map(async ({ reader, run }) => ({ reader, run: await untilRead(reader.client, run) })),
      ).finally(() => (hasEnded = true));
      const answers: number[] = [];
      while (!hasEnded) {
        const asked = performance.now();
        expect((await server().client.get('/health')).status).to.equal(200);
        answers.push(performance.now() - asked);
      }
      delay.disable();
      const runs = (await read).toSorted((a, b) => a.run.updatedAt.localeCompare(b.run.updatedAt));
      expect(runs.map(({ run }) => run.status)).to.deep.equal(Array.from({ length: 10 }, () => 'needs_review'));
      const [first, second] = readers;
      const places = runs.flatMap(({ reader }, place) => (reader === second ? [place] : []));
      expect(places[0], "the second organisation's first document").to.be.lessThan(
        runs.findLastIndex(({ reader }) => reader === first),
      );
      expect(answers.length, 'answers to other requests meanwhile').to.be.greaterThan(10);
      const ms = (value: number) => `${value.toFixed(0)} ms`;
      process.stdout.write(
        `    ten documents on ${kind}: ${answers.length} answers to others, the slowest in ${ms(Math.max(...answers))}; the event loop waited ${ms(delay.percentile(99) / 1e6)} (p99), ${ms(delay.max / 1e6)} at most\n`,
      );
    });
  });
});
