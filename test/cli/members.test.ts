import { expect } from 'chai';
import { failureOf } from '../support/failures.js';
import { installations, type Installation, type Outcome } from '../support/cli.js';
import { aRequest, withProduct } from '../support/product.js';

const EMAIL = 'ann@acme.example';
const PASSWORD = 'Correct-Horse-42';
const WHO = ['--tenant', 'acme', '--email', EMAIL];
const json = <T>({ stdout }: Outcome): T => JSON.parse(stdout) as T;
const error = ({ stderr }: Outcome) => (JSON.parse(stderr) as { error: { code: string; message: string } }).error;

describe('duebook members and sessions', () => {
  const install = installations();

  const acme = async (): Promise<
    Installation & {
      signIn(password?: string): Promise<unknown>;
      rows(sql: string): Promise<Record<string, unknown>[]>;
    }
  > => {
    const installation = await install();
    await installation.inProcess(
      ['bootstrap', '--tenant-slug', 'acme', '--tenant-name', 'Acme', '--email', EMAIL, '--name', 'Ann Lee'],
      { input: PASSWORD },
    );
    const env = { DATA_DIR: installation.dataDir, LOGIN_FAILURES_PER_ACCOUNT: '2' };
    return {
      ...installation,
      signIn: (password = PASSWORD) =>
        withProduct(env, ({ services }) =>
          services.sessions.login({ tenantSlug: 'acme', email: EMAIL, password }, aRequest()),
        ),
      rows: (sql) =>
        withProduct(env, ({ foundation }) => foundation.platform.read({ tenantId: null }, (tx) => tx.all(sql))),
    };
  };

  it('lists the members', async () => {
    const { inProcess, signIn } = await acme();
    await signIn();
    const { members } = json<{ members: Record<string, unknown>[] }>(
      await inProcess(['members', 'list', '--tenant', 'acme', '--json']),
    );
    expect(members).to.have.length(1);
    expect(members[0]).to.include({
      email: EMAIL,
      name: 'Ann Lee',
      roleCode: 'owner',
      status: 'active',
      mfaEnrolled: false,
      subjectScope: null,
    });
    expect(members[0]?.['lastLoginAt']).to.be.a('string');
    expect((await inProcess(['members', 'list', '--tenant', 'acme'])).stdout).to.match(
      /EMAIL +NAME +ROLE +STATUS +MFA +LAST SIGN-IN\nann@acme\.example +Ann Lee +owner +active +no +2/,
    );
  });

  it('resets the password, which ends the sessions and removes a lock', async () => {
    const { inProcess, signIn, rows } = await acme();
    await signIn();
    for (let i = 0; i < 2; i++) await failureOf(signIn('wrong-password'));
    expect(await failureOf(signIn())).to.have.property('code', 'RATE_LIMITED');

    const done = await inProcess(['members', 'reset-password', ...WHO, '--json'], { input: 'Another-Horse-43' });
    expect(json(done)).to.deep.equal({ email: EMAIL, sessionsRevoked: 1 });
    expect(await signIn('Another-Horse-43')).to.have.property('accessToken');
    expect(await failureOf(signIn())).to.have.property('code', 'UNAUTHENTICATED');
    const audit = await rows(
      "SELECT actor_kind, record_kind, changes FROM audit_log WHERE action = 'member_password_reset'",
    );
    expect(audit).to.deep.equal([{ actor_kind: 'cli', record_kind: 'member', changes: '{"sessionsRevoked":1}' }]);
  });

  it('generates a password if none is given, and shows it once', async () => {
    const { inProcess, signIn } = await acme();
    const { password } = json<{ password: string }>(await inProcess(['members', 'reset-password', ...WHO, '--json']));
    expect(password).to.match(/^[\w-]{24}$/);
    expect(await signIn(password)).to.have.property('accessToken');
  });

  it('refuses a password that is too short or breached, and asks for confirmation', async () => {
    const { inProcess, signIn } = await acme();
    expect(error(await inProcess(['members', 'reset-password', ...WHO, '--json'], { input: 'short' }))).to.include({
      code: 'PASSWORD_LENGTH',
    });
    expect((await inProcess(['members', 'reset-password', ...WHO], { answers: ['n'] })).code).to.equal(1);
    expect((await inProcess(['members', 'reset-mfa', ...WHO], { answers: ['n'] })).code).to.equal(1);
    expect((await inProcess(['sessions', 'revoke', ...WHO], { answers: [''] })).code).to.equal(1);
    expect(
      error(await inProcess(['members', 'reset-password', ...WHO, '--json'], { input: '277rte87hryloitru' })),
    ).to.include({ code: 'PASSWORD_TOO_WEAK' });
    expect(await signIn()).to.have.property('accessToken');
  });

  it('unlocks an account', async () => {
    const { inProcess, signIn } = await acme();
    for (let i = 0; i < 2; i++) await failureOf(signIn('wrong-password'));
    expect(await failureOf(signIn())).to.have.property('code', 'RATE_LIMITED');
    expect(json(await inProcess(['members', 'unlock', ...WHO, '--json']))).to.deep.equal({
      email: EMAIL,
      wasLocked: true,
    });
    expect(await signIn()).to.have.property('accessToken');
    expect((await inProcess(['members', 'unlock', ...WHO])).stdout).to.equal(`${EMAIL} was not locked.\n`);
  });

  it('removes every second factor', async () => {
    const { inProcess, dataDir, rows } = await acme();
    await withProduct({ DATA_DIR: dataDir }, ({ foundation }) =>
      foundation.platform.write({ tenantId: null }, async (tx) => {
        const member = await tx.get('SELECT tenant_id, id FROM members');
        const who = [member?.['tenant_id'] ?? null, member?.['id'] ?? null];
        await tx.run(
          "INSERT INTO mfa_totp (tenant_id, member_id, secret_sealed, last_step, enrolled_at) VALUES (?, ?, 'v1.k.x.y', 0, 0)",
          who,
        );
        await tx.run("INSERT INTO mfa_recovery_codes (tenant_id, member_id, code_hash) VALUES (?, ?, 'h')", who);
        await tx.run(
          "INSERT INTO passkeys (tenant_id, member_id, id, credential_id, public_key, counter, transports, synced, backed_up, created_at) VALUES (?, ?, '01890000-0000-7000-8000-000000000001', 'c', 'p', 0, '[]', 0, 0, 0)",
          who,
        );
      }),
    );
    expect(json(await inProcess(['members', 'reset-mfa', ...WHO, '--json']))).to.deep.equal({
      email: EMAIL,
      authenticator: true,
      passkeys: 1,
      sessionsRevoked: 0,
    });
    expect(
      await rows(
        'SELECT member_id FROM mfa_totp UNION ALL SELECT member_id FROM mfa_recovery_codes UNION ALL SELECT member_id FROM passkeys',
      ),
    ).to.deep.equal([]);
    expect(json(await inProcess(['members', 'reset-mfa', ...WHO, '--json']))).to.include({
      authenticator: false,
      passkeys: 0,
    });
  });

  it('ends sessions: their tokens are refused', async () => {
    const { inProcess, signIn, dataDir } = await acme();
    const { refreshToken } = (await signIn()) as { refreshToken: string };
    expect(json(await inProcess(['sessions', 'revoke', ...WHO, '--json']))).to.deep.equal({
      email: EMAIL,
      sessionsRevoked: 1,
    });
    const refused = await withProduct({ DATA_DIR: dataDir }, ({ services }) =>
      failureOf(services.sessions.refresh(refreshToken, aRequest())),
    );
    expect(refused).to.have.property('code', 'UNAUTHENTICATED');
    expect((await inProcess(['sessions', 'revoke', ...WHO])).stdout).to.equal(`Ended 0 sessions of ${EMAIL}.\n`);
  });

  it('reports an unknown organisation or member, and changes nothing', async () => {
    const { inProcess, rows } = await acme();
    const count = () => rows('SELECT count(*) AS n FROM audit_log');
    const before = await count();
    for (const command of [
      ['members', 'reset-password'],
      ['members', 'reset-mfa'],
      ['members', 'unlock'],
      ['sessions', 'revoke'],
    ]) {
      for (const [tenant, email] of [
        ['nowhere', EMAIL],
        ['acme', 'nobody@acme.example'],
      ] as const) {
        const outcome = await inProcess([...command, '--tenant', tenant, '--email', email, '--json'], {
          input: 'Another-Horse-43',
        });
        expect([outcome.code, error(outcome).code], command.join(' ')).to.deep.equal([1, 'NOT_FOUND']);
      }
    }
    expect(error(await inProcess(['members', 'list', '--tenant', 'nowhere', '--json'])).code).to.equal('NOT_FOUND');
    expect(await count()).to.deep.equal(before);
  });
});
