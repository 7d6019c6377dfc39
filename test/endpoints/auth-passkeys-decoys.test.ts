import { expect } from 'chai';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import type { LoginQuestion } from '../../server/auth/passkeys.schemas.js';
import {
  makeMember,
  makeTenant,
  PUBLIC_URL,
  serveIdentity,
  signIn,
  startIdentity,
  type MadeTenant,
  type TestIdentity,
} from '../support/accounts.js';
import { softwareAuthenticator, type CreationOptions } from '../support/authenticator.js';
import { forEachDatabase } from '../support/database.js';
import type { LittleApp } from '../support/little-app.js';

describe('the passkey options of an unknown account', () => {
  forEachDatabase((_kind, fresh) => {
    const keys = generateKeyRingText();
    let database: Database;
    let statements: string[] = [];
    let identity: TestIdentity;
    let app: LittleApp;
    let org: MadeTenant;
    let known: string;
    before(async () => {
      ({ database } = await fresh());
      identity = await startIdentity(
        recording(database, (sql) => statements.push(sql)),
        { keyRing: parseKeyRing(keys) },
      );
      app = await serveIdentity(identity);
      org = await makeTenant(identity);
      const member = await makeMember(identity, org);
      known = member.email;
      const { client } = await signIn(app.client, { tenant: org.tenant, member });
      const { body } = await client.post<{ options: CreationOptions }>('/auth/passkeys/register/options');
      expect(
        (
          await client.post('/auth/passkeys/register/verify', {
            response: softwareAuthenticator({ origin: PUBLIC_URL }).create(body.options),
          })
        ).status,
      ).to.equal(201);
    });
    after(() => app.stop());

    const ask = async (email: string, { tenantSlug = org.tenant.slug, to = app } = {}) => {
      const answer = await to.client.post<LoginQuestion>('/auth/passkeys/login/options', { tenantSlug, email });
      expect(answer.status, answer.text).to.equal(200);
      return answer.body;
    };
    const idsFor = async (...given: Parameters<typeof ask>) =>
      (await ask(...given)).options.allowCredentials.map(({ id }) => id);
    const optionsOfAll = async () => ({
      known: await ask(known),
      'without passkeys': await ask(org.owner.email),
      unknown: await ask('nobody@example.test'),
      'of an unknown tenant': await ask(known, { tenantSlug: 'no-such-tenant' }),
    });

    it('have the same shape as for accounts with and without passkeys', async () => {
      for (const [account, { flowId, options }] of Object.entries(await optionsOfAll())) {
        expect(Buffer.from(flowId, 'base64url'), account).to.have.length(32);
        const { challenge, allowCredentials, ...rest } = options;
        expect(Buffer.from(challenge, 'base64url')).to.have.length(32);
        expect(rest).to.deep.equal({ rpId: 'book.example.test', timeout: 300_000, userVerification: 'required' });
        expect(allowCredentials).to.have.length.within(1, 2);
        for (const credential of allowCredentials) {
          expect(['id', 'type', 'transports'].slice(0, credential.transports ? 3 : 2)).to.deep.equal(
            Object.keys(credential),
          );
          expect(Buffer.from(credential.id, 'base64url').length).to.be.within(16, 64);
        }
      }
    });

    it('contain the same ids each time, in any case of the email, on each server, and after a new key was added', async () => {
      for (const email of ['nobody@example.test', org.owner.email, known]) {
        const ids = await idsFor(email);
        expect(await idsFor(` ${email.toUpperCase()}`)).to.deep.equal(ids);
        for (const ring of [keys, `${generateKeyRingText()},${keys}`]) {
          const replica = await serveIdentity(
            await startIdentity(database, { ...identity.options, database, keyRing: parseKeyRing(ring) }),
          );
          try {
            expect(await idsFor(email, { to: replica }), email).to.deep.equal(ids);
          } finally {
            await replica.stop();
          }
        }
      }
    });

    it('contain other ids for another email, another tenant and another installation', async () => {
      const ids = await idsFor('nobody@example.test');
      const otherInstallation = await serveIdentity(
        await startIdentity(database, {
          ...identity.options,
          database,
          keyRing: parseKeyRing(`${keys},${generateKeyRingText()}`),
        }),
      );
      try {
        for (const others of [
          await idsFor('nobody2@example.test'),
          await idsFor('nobody@example.test', { tenantSlug: 'another' }),
          await idsFor('nobody@example.test', { to: otherInstallation }),
        ])
          expect(others).not.to.deep.equal(ids);
      } finally {
        await otherInstallation.stop();
      }
    });

    it('contain ids of several lengths and kinds, as authenticators create them', async () => {
      const all = await Promise.all(
        Array.from({ length: 40 }, async (_, index) => (await ask(`n${index}@example.test`)).options.allowCredentials),
      );
      expect(new Set(all.flat().map(({ id }) => id.length)).size).to.be.greaterThan(2);
      expect(new Set(all.flat().map(({ transports }) => String(transports))).size).to.be.greaterThan(1);
      expect(new Set(all.map(({ length }) => length))).to.deep.equal(new Set([1, 2]));
    });

    it('contain ids without transports, too, as of a member whose browser reported none', async () => {
      const member = await makeMember(identity, org);
      const { client } = await signIn(app.client, { tenant: org.tenant, member });
      const { body } = await client.post<{ options: CreationOptions }>('/auth/passkeys/register/options');
      const { response, ...rest } = softwareAuthenticator({ origin: PUBLIC_URL }).create(body.options);
      const silent = { ...rest, response: { ...response, transports: [] } };
      expect((await client.post('/auth/passkeys/register/verify', { response: silent })).status).to.equal(201);
      expect(
        (await ask(member.email)).options.allowCredentials.map((credential) => Object.keys(credential)),
      ).to.deep.equal([['id', 'type']]);
      const unknownAccounts = await Promise.all(
        Array.from({ length: 120 }, (_, index) => idsWithoutTransports(`s${index}@example.test`)),
      );
      expect(unknownAccounts.flat()).not.to.deep.equal([]);
    });

    const idsWithoutTransports = async (email: string) =>
      (await ask(email)).options.allowCredentials.filter(({ transports }) => transports === undefined);

    it('run the same statements for any account, and so does an answer', async () => {
      const of = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
        statements = [];
        await work();
        return statements;
      };
      const asked: (readonly string[])[] = [];
      const answered: (readonly string[])[] = [];
      for (const [email, tenantSlug] of [
        [known, org.tenant.slug],
        [org.owner.email, org.tenant.slug],
        ['nobody@example.test', org.tenant.slug],
        [known, 'no-such-tenant'],
      ] as const) {
        let question: LoginQuestion | undefined;
        asked.push(await of(async () => (question = await ask(email, { tenantSlug }))));
        const { flowId, options } = question ?? (await ask(email));
        answered.push(
          await of(async () => {
            const answer = await app.client.post('/auth/passkeys/login/verify', {
              flowId,
              response: answerWithUnknownKey(options.allowCredentials[0]?.id ?? '', options.challenge),
            });
            expect([answer.status, answer.text]).to.deep.equal([
              401,
              '{"statusCode":401,"message":"Invalid credentials","error":"Unauthorized"}',
            ]);
          }),
        );
      }
      expect(asked[0]).to.have.length.greaterThan(3);
      for (const other of asked) expect(other).to.deep.equal(asked[0]);
      for (const other of answered) expect(other).to.deep.equal(answered[0]);
    });
  });
});

/** An answer that is valid in every part, but signed with an unknown key. */
function answerWithUnknownKey(id: string, challenge: string) {
  const authenticator = softwareAuthenticator({ origin: PUBLIC_URL });
  authenticator.create({ challenge, rp: { id: 'book.example.test' }, user: { id: '' } }, { credentialId: id });
  return authenticator.get({ challenge, rpId: 'book.example.test' }, { userHandle: null });
}

/** The same database; every statement is recorded. */
function recording(database: Database, record: (sql: string) => void): Database {
  const recorded = (tx: Transaction): Transaction => ({
    dialect: tx.dialect,
    whole: tx.whole,
    get writes() {
      return tx.writes;
    },
    all: (sql, values) => (record(sql), tx.all(sql, values)),
    steady: (sql, values) => (record(sql), tx.steady(sql, values)),
    get: (sql, values) => (record(sql), tx.get(sql, values)),
    getForUpdate: (sql, values) => (record(sql), tx.getForUpdate(sql, values)),
    run: (sql, values) => (record(sql), tx.run(sql, values)),
    defer: (sql, values) => (record(sql), tx.defer(sql, values)),
    insert: (insertion, rows) => (record(insertion.sql(1)), tx.insert(insertion, rows)),
    hold: (sql, values) => (record(sql), tx.hold(sql, values)),
    table: (name) => tx.table(name),
    last: (key, one, work) => tx.last(key, one, work),
    mustBeAlone: () => tx.mustBeAlone(),
    savepoint: (work, options) => tx.savepoint(work, options),
  });
  return {
    dialect: database.dialect,
    read: (scope, work) => database.read(scope, (tx) => work(recorded(tx))),
    glance: (scope, sql, id) => (record(sql), database.glance(scope, sql, id)),
    generation: () => database.generation(),
    write: (scope, work, options) => database.write(scope, (tx) => work(recorded(tx)), options),
    pauseWrites: () => database.pauseWrites(),
    ping: (timeoutMs) => database.ping(timeoutMs),
    pool: () => database.pool(),
    exclusive: (work) => database.exclusive(work),
    close: () => database.close(),
  };
}
