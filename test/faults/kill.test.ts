import { expect } from 'chai';
import { client } from '../support/http.js';
import { needsPostgres } from '../support/postgres.js';
import type { Running } from '../support/process.js';
import { install, register, type Installation } from './installation.js';
import { contractNo, Ledger } from './ledger.js';
import type { StoredContract } from './stored.js';

const CREATES = 500;
const IN_FLIGHT = 16;

/** `killAt`: the server is killed after this many acknowledged creates, while others are in progress. */
const INSTALLATIONS = [
  { kind: 'sqlite', killAt: [40, 180, 400] },
  { kind: 'postgres', killAt: [90, 300] },
] as const;

describe('a server that is killed in the middle of creates', () => {
  for (const { kind, killAt } of INSTALLATIONS) {
    describe(`on ${kind}`, function () {
      if (kind === 'postgres') needsPostgres();
      this.timeout(240_000); // an idle machine needs a tenth of it

      let installation: Installation | undefined;
      let server: Running | undefined;
      let ledger = new Ledger(0, { subjectId: '', ownerId: '' });
      /** For each kill, the acknowledged contracts, and those found in the database. */
      const deaths: { readonly acknowledged: readonly string[]; readonly found: readonly StoredContract[] }[] = [];
      let atTheEnd: readonly StoredContract[] = [];

      before('kill the server repeatedly, and resend unanswered requests', async () => {
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

      it('has left no contract with missing lines, terms, notes, sums, receipt, search text or audit row', () => {
        for (const { found } of [...deaths, { found: atTheEnd }])
          expect(found.filter(({ isWhole }) => !isWhole)).to.deep.equal([]);
      });

      it('was killed with creates in flight', () => {
        expect(ledger.unanswered).to.be.at.least(killAt.length);
      });

      it('has created exactly one contract for each create that was resent with its key', () => {
        const numbers = Array.from({ length: CREATES }, (_, i) => contractNo(i));
        expect(atTheEnd.map((stored) => stored.contractNo).toSorted()).to.deep.equal(numbers);
        expect(
          new Map(atTheEnd.map((stored) => [stored.contractNo, stored.id])),
          'the ids that the client received',
        ).to.deep.equal(ledger.acknowledged);
      });
    });
  }
});
