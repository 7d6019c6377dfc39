import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import { OPERATOR } from '../support/accounts.js';
import { installations, type Installation, type Outcome } from '../support/cli.js';
import { aRequest, withProduct } from '../support/product.js';
import { read } from '../support/source.js';
import { aContract } from '../support/samples.js';
import type { Composed } from '../../server/compose.js';
import { systemCall } from '../../server/data-planes/system-call.js';

const PASSWORD = 'Correct-Horse-42';
const EMAIL = 'ann@acme.example';
const json = <T>({ stdout }: Outcome): T => JSON.parse(stdout) as T;
interface Status {
  signing: { kid: string; status: string; verifyUntil: string | null }[];
  link: { kid: string; status: string; verifyUntil: string | null }[];
  sealing: { id: string; status: string; rows: number }[];
  columns: { database: string; table: string; column: string; keyId: string; rows: number }[];
}

describe('duebook keys', () => {
  const install = installations();
  const idOf = (ring: string) => ring.split(':')[0] ?? '';

  /** An installation with encrypted data of every kind that can be created without a browser. */
  const acme = async (keys: string): Promise<Installation & { env: { DATA_DIR: string; SECRET_KEYS: string } }> => {
    const installation = await install();
    const env = { DATA_DIR: installation.dataDir, SECRET_KEYS: keys };
    await installation.inProcess(
      ['bootstrap', '--tenant-slug', 'acme', '--tenant-name', 'Acme', '--email', EMAIL, '--name', 'Ann Lee'],
      { env, input: PASSWORD },
    );
    await withProduct(env, async ({ services, foundation, schedules }) => {
      const tenant = await services.tenants.bySlug('acme');
      const call = systemCall({ tenantId: tenant?.id ?? '', actor: OPERATOR, at: Date.now() });
      for (let i = 0; i < 3; i++)
        await foundation.dataPlanes
          .forTenant(call.tenantId)
          .invoke(
            'createContract',
            { call: { ...call, idempotency: { key: `key-${i}-of-them`, requestHash: 'aa' } } },
            aContract(),
          );
      await schedules.run('audit-chain');
    });
    return { ...installation, env };
  };
  const signIn = (env: { DATA_DIR: string; SECRET_KEYS: string }) =>
    withProduct(env, ({ services }) =>
      services.sessions.login({ tenantSlug: 'acme', email: EMAIL, password: PASSWORD }, aRequest()),
    );

  it('rotates the signing key: earlier tokens stay valid until they expire', async () => {
    const { inProcess, env } = await acme(generateKeyRingText());
    const before = (await signIn(env)) as { refreshToken: string };
    const {
      signing: [old],
    } = json<Status>(await inProcess(['keys', 'status', '--json'], { env }));
    const { kid, oldVerifiesUntil } = json<{ kid: string; oldVerifiesUntil: string }>(
      await inProcess(['keys', 'rotate', '--json'], { env }),
    );
    expect(Date.parse(oldVerifiesUntil) - Date.now()).to.be.within(29 * 86_400_000, 30 * 86_400_000);

    const { signing } = json<Status>(await inProcess(['keys', 'status', '--json'], { env }));
    expect(signing.map(({ kid: id, status, verifyUntil }) => [id, status, verifyUntil])).to.deep.equal([
      [kid, 'active', null],
      [old?.kid, 'retiring', oldVerifiesUntil],
    ]);
    await withProduct(env, async ({ services, foundation }) => {
      expect((await services.keys.jwks()).keys.map((key) => key.kid)).to.deep.equal([kid, old?.kid]);
      expect(await services.sessions.refresh(before.refreshToken, aRequest())).to.have.property('accessToken');
      const reported = await foundation.platform.read({ tenantId: null }, (tx) =>
        tx.all("SELECT actor_kind FROM audit_log WHERE action = 'signing_key_rotated'"),
      );
      expect(reported).to.deep.equal([{ actor_kind: 'cli' }]);
    });
  });

  it('rotates the key that signs what is sent to agents, four times within 30 days', async () => {
    const { inProcess, env } = await acme(generateKeyRingText());
    const rotate = ['keys', 'rotate', '--link', '--json'];
    const kids: string[] = [];
    for (let i = 0; i < 4; i++) {
      const outcome = await inProcess(rotate, { env });
      const { kid, oldValidUntil } = json<{ kid: string; oldValidUntil: string }>(outcome);
      expect(Date.parse(oldValidUntil) - Date.now()).to.be.within(29 * 86_400_000, 30 * 86_400_000);
      kids.unshift(kid);
    }
    const status = json<Status>(await inProcess(['keys', 'status', '--json'], { env }));
    expect(status.link.map(({ status: of }) => of)).to.deep.equal(['active', ...Array<string>(4).fill('retiring')]);
    expect(status.link.slice(0, 4).map(({ kid }) => kid)).to.have.members(kids);
    expect(status.link[0]?.kid).to.equal(kids[0]);
    expect((await inProcess(['keys', 'status'], { env })).stdout)
      .to.contain('LINK KEY')
      .and.to.contain(kids[0]);
    // As on a fast machine, which makes the first two in one millisecond.
    const platform = new Sqlite(join(env.DATA_DIR, 'platform.db'));
    platform.exec("UPDATE link_keys SET created_at = (SELECT min(created_at) FROM link_keys) WHERE status <> 'active'");
    platform.close();
    const again = json<Status>(await inProcess(['keys', 'status', '--json'], { env }));
    expect(again.link.map(({ kid }) => kid)).to.deep.equal(status.link.map(({ kid }) => kid));
    const refused = await inProcess(rotate, { env });
    expect([refused.code, (JSON.parse(refused.stderr) as { error: { code: string } }).error.code]).to.deep.equal([
      1,
      'LIMIT_REACHED',
    ]);
  });

  it('replaces the encryption key step by step, until the old one can be deleted', async () => {
    const [old, fresh] = [generateKeyRingText(), generateKeyRingText()];
    const { inProcess, env } = await acme(old);
    await inProcess(['keys', 'rotate', '--link'], { env });
    const both = { ...env, SECRET_KEYS: `${fresh},${old}` };
    const rows = async (which: typeof env) =>
      json<Status>(await inProcess(['keys', 'status', '--json'], { env: which }));

    const before = await rows(both);
    expect(before.sealing.map(({ id, status }) => [id, status])).to.deep.equal([
      [idOf(fresh), 'active'],
      [idOf(old), 'opens'],
    ]);
    expect(before.sealing[0]?.rows).to.equal(0);
    expect(before.columns.map(({ table, column, keyId }) => [table, column, keyId])).to.deep.include.members([
      ['signing_keys', 'private_sealed', idOf(old)],
      ['link_keys', 'private_sealed', idOf(old)],
      ['audit_heads', 'seal', idOf(old)],
      ['idempotency_records', 'answer', idOf(old)],
    ]);
    const total = before.sealing[1]?.rows ?? 0;

    expect(json(await inProcess(['keys', 'reencrypt', '--json'], { env: both }))).to.deep.equal({
      keyId: idOf(fresh),
      resealed: total,
      unreadable: 0,
    });
    expect((await rows(both)).sealing.map(({ rows: n }) => n)).to.deep.equal([total, 0]);
    expect(json(await inProcess(['keys', 'reencrypt', '--json'], { env: both }))).to.deep.equal({
      keyId: idOf(fresh),
      resealed: 0,
      unreadable: 0,
    });

    // Without the old key everything still works.
    const alone = { ...env, SECRET_KEYS: fresh };
    expect(await signIn(alone)).to.have.property('accessToken');
    expect((await inProcess(['audit', 'verify'], { env: alone })).code).to.equal(0);
    expect((await inProcess(['keys', 'status'], { env: alone })).code).to.equal(0);
    expect((await inProcess(['keys', 'rotate', '--link'], { env: alone })).code).to.equal(0);
  });

  it('describes the change of the sealing key with the same steps in its help and on the page of settings', async () => {
    const { inProcess } = await install();
    const { stdout } = await inProcess(['keys', '--help']);
    const stepsOf = (text: string): string[] =>
      (text.split('To change the sealing key:')[1] ?? '')
        .replaceAll(/[`"]/g, '')
        .split(/\n\s*(?=\d\. )/)
        .slice(1)
        .map((step) => (step.split(/\n(?=\S|\n)/)[0] ?? '').replaceAll(/\s+/g, ' ').trim());
    const steps = stepsOf(stdout);
    expect(steps).to.have.length(5);
    expect(stepsOf(read('docs/configuration.md'))).to.deep.equal(steps);
    // The first step generates a key in the format of the setting.
    const command = /echo .*$/m.exec(stdout)?.[0] ?? '';
    expect(command).to.equal('echo "k2:$(openssl rand -base64 32)"');
    expect(parseKeyRing(`k2:${randomBytes(32).toString('base64')},${generateKeyRingText()}`).active).to.equal('k2');
  });

  it('accepts a new key in front of the others in the file of keys', async () => {
    const { inProcess, dataDir } = await install();
    await inProcess('bootstrap --tenant-slug acme --tenant-name Acme --email ann@acme.example --name Ann'.split(' '));
    const path = join(dataDir, 'secret-keys');
    const fresh = generateKeyRingText();
    writeFileSync(path, `${fresh},${readFileSync(path, 'utf8')}`);
    expect(json(await inProcess(['keys', 'reencrypt', '--json']))).to.include({ keyId: idOf(fresh), unreadable: 0 });
    writeFileSync(path, fresh);
    expect((await inProcess(['keys', 'status'])).code).to.equal(0);
    expect((await inProcess(['audit', 'verify'])).code).to.equal(0);
  });

  it('covers the addresses of chat and webhook channels, and encrypts those stored before they were encrypted', async () => {
    const [old, fresh] = [generateKeyRingText(), generateKeyRingText()];
    const { inProcess, env, dataDir } = await acme(old);
    const token = 'hook-token-4711';
    const channels = ({ services }: Composed) =>
      services.tenants.bySlug('acme').then(async (tenant) => ({
        tenantId: tenant?.id ?? '',
        list: await services.tenants.channels.list(tenant?.id ?? ''),
      }));
    await withProduct(env, async (product) => {
      for (const kind of ['slack', 'webhook'] as const)
        await product.services.tenants.channels.add(
          {
            tenantId: (await channels(product)).tenantId,
            kind,
            fields: { target: `https://hooks.example.com/${token}` },
          },
          OPERATOR,
        );
    });
    const both = { ...env, SECRET_KEYS: `${fresh},${old}` };
    const counts = async () =>
      json<Status>(await inProcess(['keys', 'status', '--json'], { env: both }))
        .columns.filter(({ column }) => column === 'target_sealed')
        .map(({ database, table, keyId, rows: n }) => [database, table, keyId, n]);
    expect(await counts()).to.deep.equal([['platform', 'notification_channels', idOf(old), 2]]);

    const file = new Sqlite(join(dataDir, 'platform.db'));
    const plain = () =>
      file.prepare('SELECT count(*) FROM notification_channels WHERE target LIKE ?').pluck().get(`%${token}%`);
    try {
      const unseal = file.prepare('UPDATE notification_channels SET target = ?, target_sealed = NULL WHERE kind = ?');
      unseal.run(`https://hooks.example.com/${token}`, 'slack');
      await inProcess(['keys', 'reencrypt'], { env: both });
      expect([plain(), await counts()]).to.deep.equal([0, [['platform', 'notification_channels', idOf(fresh), 2]]]);

      unseal.run(`https://hooks.example.com/${token}`, 'webhook');
      // A start of the server does the same.
      await withProduct(both, async (product) => {
        expect((await channels(product)).list.map(({ target }) => target?.replace(/[0-9a-f]{8}$/, ''))).to.deep.equal([
          'https://hooks.example.com/…',
          'https://hooks.example.com/…',
        ]);
      });
      expect([plain(), await counts()]).to.deep.equal([0, [['platform', 'notification_channels', idOf(fresh), 2]]]);
    } finally {
      file.close();
    }
  });

  it('names a missing key, and does not change data that it cannot decrypt', async () => {
    const [old, fresh] = [generateKeyRingText(), generateKeyRingText()];
    const { inProcess, env } = await acme(old);
    const without = { ...env, SECRET_KEYS: fresh };
    const status = await inProcess(['keys', 'status', '--json'], { env: without });
    expect(status.code).to.equal(1);
    expect(json<Status>(status).sealing.map(({ id, status: state }) => [id, state])).to.deep.equal([
      [idOf(fresh), 'active'],
      [idOf(old), 'missing'],
    ]);
    expect((JSON.parse(status.stderr) as { error: { code: string; message: string } }).error).to.include({
      code: 'KEYS_MISSING',
    });

    // An audit head that cannot be decrypted is not an audit error.
    const verified = await inProcess(['audit', 'verify', '--json'], { env: without });
    expect((JSON.parse(verified.stderr) as { error: { code: string } }).error.code).to.equal('SEAL_KEY_UNKNOWN');

    const sealed = json<Status>(status).sealing[1]?.rows;
    const tried = await inProcess(['keys', 'reencrypt', '--json'], { env: without });
    expect(tried.code).to.equal(1);
    expect(json(tried)).to.deep.equal({ keyId: idOf(fresh), resealed: 0, unreadable: sealed });
    expect((await inProcess(['keys', 'status'], { env })).code).to.equal(0);
  });
});
