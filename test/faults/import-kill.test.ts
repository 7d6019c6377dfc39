import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ImportReport } from '../../data-plane-agent/plane/contract/records/imports.js';
import { client, type Answer } from '../support/http.js';
import { needsPostgres } from '../support/postgres.js';
import type { Running } from '../support/process.js';
import { aContract, aLine } from '../support/samples.js';
import { install, METRICS_TOKEN, register, type Installation } from './installation.js';
import type { Owner } from './ledger.js';

const CONTRACTS = 300;
/** So many that they are entered in several transactions. */
const MANY = 800;
/** The lease of the killed process must end first. */
const TAKEN_OVER_MS = 120_000;

describe('a server that is killed in the middle of an import', () => {
  for (const kind of ['sqlite', 'postgres'] as const) {
    describe(`on ${kind}`, function () {
      if (kind === 'postgres') needsPostgres();
      this.timeout(240_000); // an idle machine needs a tenth of it

      let installation: Installation | undefined;
      let server: Running | undefined;
      after('remove the installation', async () => {
        await server?.kill();
        await installation?.remove();
      });

      it('has imported nothing, and imports it once when the request is repeated with its key', async () => {
        installation = await install(kind);
        server = await installation.start();
        const { token, owner } = await register(server.origin);
        const rows = Array.from({ length: CONTRACTS }, () => contractOf(owner));
        const send = ({ origin }: Running): Promise<Answer<ImportReport>> =>
          client(origin, token).post<ImportReport>(
            '/contracts/import',
            { rows },
            { headers: { 'Idempotency-Key': 'the-whole-book' } },
          );

        const unanswered = send(server).then(
          ({ text }) => text,
          () => 'not answered',
        );
        await isWriting(server);
        await server.kill();
        expect(await unanswered).to.equal('not answered');
        expect(await installation.stored()).to.deep.equal([]);

        server = await installation.start();
        const first = await send(server);
        expect(first.body, first.text.slice(0, 500)).to.include({ total: CONTRACTS, created: CONTRACTS });
        expect((await send(server)).body).to.deep.equal(first.body);
        await server.kill();
        const stored = await installation.stored();
        expect(stored.filter(({ isWhole }) => isWhole)).to.have.length(CONTRACTS);
      });

      it('imports all of a long one in the end, and each contract once', async () => {
        const long = await install(kind);
        try {
          server = await long.start();
          const { token, owner } = await register(server.origin);
          const rows = Array.from({ length: MANY }, () => contractOf(owner));
          const send = ({ origin }: Running): Promise<Answer<ImportReport>> =>
            client(origin, token).post<ImportReport>(
              '/contracts/import',
              { rows },
              { headers: { 'Idempotency-Key': 'the-whole-book' } },
            );

          const unanswered = send(server).then(
            ({ text }) => text,
            () => 'not answered',
          );
          await hasEnteredSome(server, token);
          await server.kill();
          expect(await unanswered).to.equal('not answered');
          const before = await long.stored();
          expect(before.length).to.be.within(1, MANY - 1);
          expect(before.filter(({ isWhole }) => isWhole)).to.have.length(before.length);

          const restarted = (server = await long.start());
          const first = await settled(() => send(restarted));
          expect(first.body, first.text.slice(0, 500)).to.include({ total: MANY, created: MANY });
          expect((await send(server)).body).to.deep.equal(first.body);
          await server.kill();
          const stored = await long.stored();
          expect(stored).to.have.length(MANY);
          expect(stored.filter(({ isWhole }) => isWhole)).to.have.length(MANY);
        } finally {
          await server?.kill();
          await long.remove();
        }
      });
    });
  }
});

/** With the same parts as the ledger's contracts. */
const contractOf = (owner: Owner) =>
  aContract({
    ...owner,
    payments: [aLine({ receivedAmount: 10 }), aLine({ period: '2' }), aLine({ period: '3' })],
    terms: [
      { kind: 'deposit', title: 'Deposit', note: 'Ten percent' },
      { kind: 'other', title: 'Insurance', note: 'By the lessee' },
    ],
    extraNotes: [{ label: 'Gate', value: '4' }],
  });

/** Resolves when contracts of the import can be seen. */
async function hasEnteredSome({ origin }: Running, token: string): Promise<void> {
  for (;;) {
    const { body } = await client(origin, token).get<{ readonly total: number }>('/contracts?pageSize=1');
    if (body.total > 0) return;
    await sleep(5);
  }
}

/** Repeats the request while the import is not finished. */
async function settled(send: () => Promise<Answer<ImportReport>>): Promise<Answer<ImportReport>> {
  for (const giveUpAt = performance.now() + TAKEN_OVER_MS; ;) {
    const answer = await send();
    if (!answer.text.includes('IDEMPOTENCY_IN_PROGRESS') || performance.now() > giveUpAt) return answer;
    await sleep(500);
  }
}

/** Resolves when the server has an open transaction over contract data. */
async function isWriting({ origin }: Running): Promise<void> {
  for (;;) {
    const page = await (
      await fetch(`${origin}/metrics`, { headers: { Authorization: `Bearer ${METRICS_TOKEN}` } })
    ).text();
    const used =
      /^duebook_\S*\{[^}]*database="tenant"[^}]*state="used"[^}]*\} (\d+)$/m.exec(page) ??
      /^duebook_\S*\{[^}]*state="used"[^}]*database="tenant"[^}]*\} (\d+)$/m.exec(page);
    if (!used) throw new Error(`there is no such metric: ${page.slice(0, 2_000)}`);
    if (Number(used[1]) > 0) return;
    await sleep(5);
  }
}
