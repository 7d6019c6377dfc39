import { expect } from 'chai';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { addDays, todayIn } from '../../data-plane-agent/base/day.js';
import { systemCall } from '../../server/data-planes/system-call.js';
import { OPERATOR } from '../support/accounts.js';
import { installations, type Installation } from '../support/cli.js';
import { withProduct } from '../support/product.js';
import { program } from '../support/programs.js';
import { aContract, aLine } from '../support/samples.js';
import { rowsOf } from '../support/sheet.js';

const PASSWORD = 'Correct-Horse-42';
const ZONE = 'Pacific/Kiritimati';

describe('duebook export', () => {
  const install = installations();

  /**
   * An organisation on the other side of the date line, with three contracts; a line of one was due yesterday in its
   * time zone.
   */
  const acme = async (): Promise<Installation & { events(): Promise<readonly Record<string, unknown>[]> }> => {
    const installation = await install();
    await installation.inProcess(
      [
        'bootstrap',
        '--tenant-slug',
        'acme',
        '--tenant-name',
        'Acme',
        '--email',
        'ann@acme.example',
        '--name',
        'Ann Lee',
      ],
      { input: PASSWORD },
    );
    const env = { DATA_DIR: installation.dataDir };
    await withProduct(env, async ({ services, foundation }) => {
      const tenantId = (await services.tenants.bySlug('acme'))?.id ?? '';
      await services.tenants.updateSettings({ tenantId, settings: { timezone: ZONE } }, OPERATOR);
      const directory = await services.directory.of(tenantId);
      const call = systemCall({ tenantId, actor: OPERATOR, at: Date.now() });
      const own = { subjectId: directory.subjects()[0]?.id ?? '', ownerId: directory.members()[0]?.id ?? '' };
      const yesterday = addDays(todayIn(ZONE, Date.now()), -1);
      for (const contract of [
        aContract({ ...own, contractNo: 'A', payeeAccount: '6222000011112222', projectName: '=A' }),
        aContract({
          ...own,
          contractNo: 'B',
          payments: [aLine({ dueDate: yesterday }), aLine({ period: 'later', dueDate: '2099-01-01' })],
        }),
        aContract({ contractNo: 'C', type: 'lease' }),
      ])
        await foundation.dataPlanes.forTenant(tenantId).invoke('createContract', { call }, contract);
    });
    return {
      ...installation,
      events: () =>
        withProduct(env, async ({ foundation, services }) => {
          const tenantId = (await services.tenants.bySlug('acme'))?.id ?? '';
          return (
            (await foundation.tenant?.read({ tenantId }, (tx) =>
              tx.all(
                "SELECT actor_kind, actor_name, changes FROM audit_log WHERE tenant_id = ? AND action = 'recordExport' ORDER BY id",
                [tenantId],
              ),
            )) ?? []
          );
        }),
    };
  };

  it('writes the contracts to standard output, and the count to standard error', async () => {
    const { inProcess, events } = await acme();
    const whole = await inProcess(['export', '--tenant', 'acme', '--profile', 'full', '--sort', 'contractNo']);
    expect([whole.code, whole.stderr]).to.deep.equal([0, '3 contracts.\n']);
    const rows = rowsOf(whole.stdout);
    expect(rows.map(({ contractNo }) => contractNo)).to.deep.equal(['A', 'B', 'B', 'C']);
    expect(rows[0]).to.include({
      payeeAccount: '6222000011112222',
      projectName: "'=A",
      subjectName: 'Acme',
      ownerEmail: 'ann@acme.example',
    });
    const forScripts = await inProcess(['export', '--tenant', 'acme', '--json']);
    expect([forScripts.code, JSON.parse(forScripts.stderr)]).to.deep.equal([0, { contracts: 3 }]);
    expect(rowsOf(forScripts.stdout)).to.have.length(3);
    expect(await events())
      .to.have.length(2)
      .and.to.satisfy((all: Record<string, unknown>[]) =>
        all.every(({ actor_kind: kind, actor_name: name }) => kind === 'cli' && name === 'duebook'),
      );
  });

  it("has the filters of the list, uses the organisation's date, and accepts people and companies by name", async () => {
    const { inProcess } = await acme();
    const numbers = async (...filter: string[]) =>
      rowsOf((await inProcess(['export', '--tenant', 'acme', '--sort', 'contractNo', ...filter])).stdout).map(
        ({ contractNo }) => contractNo,
      );
    expect(await numbers('--overdue')).to.deep.equal(['B']);
    expect(await numbers('--owner', 'Ann@Acme.example', '--order', 'desc')).to.deep.equal(['B', 'A']);
    expect(await numbers('--subject', 'Acme', '--q', '=a')).to.deep.equal(['A']);
    expect(await numbers('--type', 'lease', '--stage', 'draft', '--workflow', 'draft')).to.deep.equal(['C']);
    expect(await numbers('--payment', 'paid', '--due-soon')).to.deep.equal([]);
  });

  it('writes a new file readable by the operator only, and none if it fails', async () => {
    const { inProcess, folder } = await acme();
    const out = join(folder, 'contracts.csv');
    expect(await inProcess(['export', '--tenant', 'acme', '--out', out])).to.deep.equal({
      code: 0,
      stdout: '',
      stderr: '3 contracts.\n',
    });
    expect(rowsOf(readFileSync(out, 'utf8'))).to.have.length(3);
    expect(statSync(out).mode & 0o777).to.equal(0o600);
    expect(await inProcess(['export', '--tenant', 'acme', '--out', out])).to.deep.include({
      code: 2,
      stderr: `duebook: --out ${out} already exists\n`,
    });
    const missing = join(folder, 'no', 'folder.csv');
    expect((await inProcess(['export', '--tenant', 'acme', '--out', missing])).code).to.equal(1);
    expect(existsSync(missing)).to.equal(false);
  });

  it('reports missing and invalid arguments', async () => {
    const { inProcess } = await acme();
    for (const [args, code, said] of [
      [['--tenant', 'nowhere'], 1, 'there is no organisation nowhere'],
      [['--tenant', 'acme', '--owner', 'bob@acme.example'], 1, 'bob@acme.example is not a member'],
      [['--tenant', 'acme', '--subject', 'Other'], 1, 'there is no subject company Other'],
      [[], 2, "required option '--tenant"],
      [['--tenant', 'acme', '--profile', 'tiny'], 2, 'Allowed choices are summary, full'],
      [['--tenant', 'acme', '--sort', 'colour'], 2, 'Allowed choices are'],
    ] as const) {
      const outcome = await inProcess(['export', ...args]);
      expect([outcome.code, outcome.stdout], outcome.stderr).to.deep.equal([code, '']);
      expect(outcome.stderr).to.contain(said);
    }
  });

  it('succeeds when the reader stops early, and records in the audit that it is incomplete', async () => {
    const { dataDir, folder, events } = await acme();
    const { PATH = '', HOME = '' } = process.env;
    const command = spawn(process.execPath, [program('cli/main.ts'), 'export', '--tenant', 'acme'], {
      cwd: folder,
      env: { PATH, HOME, DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    command.stdout.destroy();
    const [code] = (await once(command, 'close')) as [number | null];
    expect(code).to.equal(0);
    const [event] = await events();
    expect(String(event?.['changes'])).to.contain('"complete":[null,false]');
  });
});
