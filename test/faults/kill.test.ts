import { expect } from 'chai';
import { client } from '../support/http.js';
import { needsPostgres } from '../support/postgres.js';
import type { Running } from '../support/process.js';
import { install, register, type Installation } from './installation.js';
import { contractNo, Ledger } from './ledger.js';
import type { StoredContract } from './stored.js';

const CREATES = 500;
const IN_FLIGHT = 16;

/**
 * `killAt`: when so many creates have been acknowledged the server is killed, with the next ones anywhere in their
 * transactions.
 */
const INSTALLATIONS = [
  { kind: 'sqlite', killAt: [40, 180, 400] },
  { kind: 'postgres', killAt: [90, 300] },
] as const;

describe('a server that is killed in the middle of creates', () => {
  for (const { kind, killAt } of INSTALLATIONS) {
    describe(`on ${kind}`, function () {
      if (kind === 'postgres') needsPostgres();
      this.timeout(120_000); // of which a quiet machine needs a tenth

      let installation: Installation | undefined;
      let server: Running | undefined;
      let ledger = new Ledger(0, { subjectId: '', ownerId: '' });
      /** At each kill, what had been acknowledged, and what was then found in the database. */
      const deaths: { readonly acknowledged: readonly string[]; readonly found: readonly StoredContract[] }[] = [];
      let atTheEnd: readonly StoredContract[] = [];

      before('kill the server again and again, and send what it did not answer again', async () => {
        installation = await install(kind);
        let running = (server = await installation.start());
        const { token, owner } = await register(running.origin);
        ledger = new Ledger(CREATES, owner);
        for (const until of killAt) {
          const victim = running;
          await ledger.enter(client(victim.origin, token), {
            inFlight: IN_FLIGHT,
            until,
            whenReached: () => victim.kill(),
          });
          deaths.push({ acknowledged: [...ledger.acknowledged.values()], found: await installation.stored() });
          running = server = await installation.start();
        }
        await ledger.enter(client(running.origin, token), {
          inFlight: IN_FLIGHT,
          until: CREATES,
          whenReached: () => Promise.resolve(),
        });
        await running.kill();
        atTheEnd = await installation.stored();
      });

      after('remove the installation', async () => {
        await server?.kill();
        await installation?.remove();
      });

      it('has lost no contract that it acknowledged', () => {
        expect(deaths).to.have.length(killAt.length);
        for (const { acknowledged, found } of deaths) {
          const ids = new Set(found.map(({ id }) => id));
          expect(acknowledged.filter((id) => !ids.has(id))).to.deep.equal([]);
        }
      });

      it('has left no contract without its lines, terms, notes, sums, receipt, search text and audit row', () => {
        for (const { found } of [...deaths, { found: atTheEnd }])
          expect(found.filter(({ isWhole }) => !isWhole)).to.deep.equal([]);
      });

      it('died with creates in flight', () => {
        expect(ledger.unanswered).to.be.at.least(killAt.length);
      });

      it('has made one contract, and no more, of each create that was sent again under its key', () => {
        const numbers = Array.from({ length: CREATES }, (_, i) => contractNo(i));
        expect(atTheEnd.map((stored) => stored.contractNo).toSorted()).to.deep.equal(numbers);
        expect(
          new Map(atTheEnd.map((stored) => [stored.contractNo, stored.id])),
          'the ids that the client was told',
        ).to.deep.equal(ledger.acknowledged);
      });
    });
  }
});
