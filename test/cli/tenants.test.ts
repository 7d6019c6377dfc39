import { expect } from 'chai';
import { installations, type Installation, type Outcome } from '../support/cli.js';
import { failureOf } from '../support/failures.js';
import { aRequest, withProduct } from '../support/product.js';

const EMAIL = 'ann@acme.example';
const PASSWORD = 'Correct-Horse-42';
const json = <T>({ stdout }: Outcome): T => JSON.parse(stdout) as T;
const errorCode = ({ stderr }: Outcome) => (JSON.parse(stderr) as { error: { code: string } }).error.code;

describe('duebook tenants', () => {
  const install = installations();

  const acme = async (): Promise<Installation & { signIn(): Promise<unknown> }> => {
    const installation = await install();
    for (const slug of ['acme', 'bolt']) {
      await installation.inProcess(
        [
          'bootstrap',
          '--tenant-slug',
          slug,
          '--tenant-name',
          slug.toUpperCase(),
          '--email',
          EMAIL,
          '--name',
          'Ann Lee',
          '--plan',
          'pro',
        ],
        { input: PASSWORD },
      );
    }
    const signIn = () =>
      withProduct({ DATA_DIR: installation.dataDir }, ({ services }) =>
        services.sessions.login({ tenantSlug: 'acme', email: EMAIL, password: PASSWORD }, aRequest()),
      );
    return { ...installation, signIn };
  };

  it('lists organisations by slug', async () => {
    const { inProcess } = await acme();
    const { tenants } = json<{ tenants: Record<string, unknown>[] }>(await inProcess(['tenants', 'list', '--json']));
    expect(tenants.map(({ slug, name, planCode, status }) => ({ slug, name, planCode, status }))).to.deep.equal([
      { slug: 'acme', name: 'ACME', planCode: 'pro', status: 'active' },
      { slug: 'bolt', name: 'BOLT', planCode: 'pro', status: 'active' },
    ]);
    expect((await inProcess(['tenants', 'list'])).stdout).to.match(
      /^SLUG +NAME +PLAN +STATUS +CREATED\nacme +ACME +pro +active +2/,
    );
  });

  it('shows one with its owner, members and sessions', async () => {
    const { inProcess, signIn } = await acme();
    await signIn();
    const { tenant } = json<{ tenant: Record<string, unknown> }>(
      await inProcess(['tenants', 'show', 'acme', '--json']),
    );
    expect(tenant).to.deep.include({
      slug: 'acme',
      planCode: 'pro',
      status: 'active',
      ownerEmail: EMAIL,
      members: { active: 1, disabled: 0 },
      sessions: 1,
    });
    expect((await inProcess(['tenants', 'show', 'bolt'])).stdout).to.contain('sessions: 0\n');
  });

  it('changes the plan', async () => {
    const { inProcess } = await acme();
    expect((await inProcess(['tenants', 'set-plan', 'acme', 'business'])).stdout).to.equal(
      'acme now has the plan business.\n',
    );
    expect(
      json<{ tenant: { planCode: string } }>(await inProcess(['tenants', 'show', 'acme', '--json'])).tenant.planCode,
    ).to.equal('business');
    expect((await inProcess(['tenants', 'set-plan', 'acme', 'gold'])).code).to.equal(2);
  });

  it('suspends one, so that its members cannot sign in, and resumes it', async () => {
    const { inProcess, signIn, dataDir } = await acme();
    const { refreshToken } = (await signIn()) as { refreshToken: string };
    const refresh = () =>
      withProduct({ DATA_DIR: dataDir }, ({ services }) => services.sessions.refresh(refreshToken, aRequest()));
    expect((await inProcess(['tenants', 'suspend', 'acme'], { answers: ['n'] })).code).to.equal(1);
    expect(json(await inProcess(['tenants', 'suspend', 'acme', '--json']))).to.deep.equal({
      tenant: { slug: 'acme', status: 'suspended' },
    });
    expect(await failureOf(signIn())).to.have.property('code', 'TENANT_SUSPENDED');
    expect(await failureOf(refresh())).to.have.property('code', 'UNAUTHENTICATED');

    expect((await inProcess(['tenants', 'resume', 'acme'])).stdout).to.equal('acme is active.\n');
    expect(await refresh()).to.have.property('accessToken');
    expect(await signIn()).to.have.property('accessToken');
  });

  it('records each change once in the audit, and no call without effect', async () => {
    const { inProcess, dataDir } = await acme();
    for (const args of [
      ['suspend', 'acme'],
      ['suspend', 'acme'],
      ['resume', 'acme'],
      ['set-plan', 'acme', 'pro'],
      ['set-plan', 'acme', 'free'],
    ])
      expect((await inProcess(['tenants', ...args])).code).to.equal(0);
    const rows = await withProduct({ DATA_DIR: dataDir }, ({ foundation }) =>
      foundation.platform.read({ tenantId: null }, (tx) =>
        tx.all("SELECT action, actor_kind FROM audit_log WHERE action <> 'tenant_created' ORDER BY id"),
      ),
    );
    expect(rows).to.deep.equal(
      ['tenant_suspended', 'tenant_resumed', 'tenant_plan_changed'].map((action) => ({ action, actor_kind: 'cli' })),
    );
  });

  it('reports an unknown organisation', async () => {
    const { inProcess } = await acme();
    for (const args of [
      ['show', 'nowhere'],
      ['suspend', 'nowhere'],
      ['resume', 'nowhere'],
      ['set-plan', 'nowhere', 'free'],
    ]) {
      const outcome = await inProcess(['tenants', ...args, '--json']);
      expect([outcome.code, errorCode(outcome)], args.join(' ')).to.deep.equal([1, 'NOT_FOUND']);
    }
  });
});
