import { expect } from 'chai';
import Sqlite from 'better-sqlite3';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { demoBook } from '../../cli/demo/book.js';
import { TASK_STATUSES } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { fakeClock } from '../support/clock.js';
import { installations, type Installation, type Outcome, type Running } from '../support/cli.js';
import { skipUnless } from '../support/needs-programs.js';

const made = ({ stdout }: Outcome) =>
  JSON.parse(stdout) as {
    created: boolean;
    tenant: { id: string; slug: string };
    signIn: { tenantSlug: string; email: string; password: string };
  };

/** The demo data as stored, without ids and instants. */
function demoDataIn(dataDir: string) {
  const file = new Sqlite(join(dataDir, 'tenant.db'), { readonly: true });
  try {
    const rows = (sql: string) => file.prepare(sql).raw().all() as unknown[][];
    return {
      contracts: rows(
        'SELECT contract_no, project_name, currency_code, total_minor, received_minor, outstanding_minor, overpaid_minor, invoiced_minor, payment_status, next_due_date, sign_date, status, stage_code, locked, tasks_live, tasks_done, version FROM contracts WHERE deleted_at IS NULL ORDER BY contract_no',
      ),
      trash: rows('SELECT contract_no, version FROM contracts WHERE deleted_at IS NOT NULL ORDER BY contract_no'),
      lines: rows(
        `SELECT contract_no, l.period, l.due_date, l.amount_minor, l.received_minor, l.reconciliation_status, l.invoice_no, l.invoiced_minor FROM payment_lines l JOIN contracts c ON c.id = l.contract_id WHERE l.deleted_at IS NULL ORDER BY contract_no, l.period`,
      ),
      receipts: rows(
        `SELECT contract_no, l.period, r.total_minor, r.delta_minor, r.actor_name FROM receipts r JOIN payment_lines l ON l.id = r.line_id JOIN contracts c ON c.id = l.contract_id ORDER BY contract_no, l.period, r.id`,
      ),
      invoices: rows(
        'SELECT contract_no, l.period, i.invoice_no, i.status, i.amount_minor, i.invoice_date, i.from_line FROM invoices i JOIN payment_lines l ON l.id = i.line_id JOIN contracts c ON c.id = i.contract_id WHERE i.deleted_at IS NULL ORDER BY i.invoice_no, i.status',
      ),
      tasks: rows(
        'SELECT contract_no, t.code, t.status, t.due_date, t.acceptance_status, t.owner_id IS NULL FROM fulfillment_tasks t JOIN contracts c ON c.id = t.contract_id ORDER BY contract_no, t.code',
      ),
      events: rows(
        'SELECT contract_no, e.kind, e.from_stage_code, e.to_stage_code, e.transition_code, e.locked, e.note, e.actor_name, e.source FROM workflow_events e JOIN contracts c ON c.id = e.contract_id ORDER BY contract_no, e.id',
      ),
      configuration: ['contract_types', 'lifecycle_stages', 'lifecycle_transitions'].map((table) =>
        rows(`SELECT code, name, position FROM ${table} ORDER BY code, name, position`),
      ),
      fields: rows(
        'SELECT code, name, type, section, visible_roles, position, archived FROM dynamic_fields ORDER BY code',
      ),
      values: rows(
        'SELECT contract_no, (SELECT count(*) FROM json_each(dynamic_fields)) FROM contracts ORDER BY contract_no',
      ),
      views: rows('SELECT name, scope, mode, filters FROM saved_views ORDER BY name'),
      imports: rows("SELECT json_extract(report, '$.contracts'), json_extract(report, '$.failed') FROM import_batches"),
      runs: rows(
        'SELECT contract_no, r.status, r.overall_confidence, (SELECT count(*) FROM extraction_reviews v WHERE v.run_id = r.id) FROM extraction_runs r JOIN contracts c ON c.id = r.contract_id ORDER BY contract_no',
      ),
      files: rows(
        'SELECT c.contract_no, f.kind, f.file_name, f.sha256, f.scan_status, (SELECT count(*) FROM extraction_runs r WHERE r.file_id = f.id) FROM files f JOIN contracts c ON c.id = f.contract_id ORDER BY f.file_name',
      ),
      terms: rows(
        'SELECT contract_no, count(*) FROM contract_terms t JOIN contracts c ON c.id = t.contract_id GROUP BY contract_no ORDER BY contract_no',
      ),
      notes: rows(
        'SELECT contract_no, n.label, n.value FROM contract_notes n JOIN contracts c ON c.id = n.contract_id ORDER BY contract_no, n.label, n.value',
      ),
      reminders: rows(
        'SELECT contract_no, l.period, r.step, r.occurrence, r.status, r.reason, r.local_date, r.recipients, r.subject, r.last_error FROM reminders r JOIN payment_lines l ON l.id = r.payment_id JOIN contracts c ON c.id = r.contract_id ORDER BY contract_no, l.period, r.local_date, r.step',
      ),
      audit: rows(
        'SELECT action, actor_kind, actor_name, count(*) FROM audit_log GROUP BY action, actor_kind, actor_name ORDER BY action, actor_kind, actor_name',
      ),
    };
  } finally {
    file.close();
  }
}

/** Months with a negative cash flow. */
function negativeMonthsIn(dataDir: string) {
  const file = new Sqlite(join(dataDir, 'tenant.db'), { readonly: true });
  try {
    return [
      'SELECT currency_code, substr(received_date, 1, 7) AS month, sum(delta_minor) AS minor FROM receipts GROUP BY 1, 2 HAVING sum(delta_minor) < 0',
      "SELECT currency_code, substr(invoice_date, 1, 7) AS month, sum(CASE status WHEN 'issued' THEN amount_minor WHEN 'red_letter' THEN -amount_minor ELSE 0 END) AS minor FROM invoices WHERE deleted_at IS NULL GROUP BY 1, 2 HAVING minor < 0",
    ].flatMap((sql) => file.prepare(sql).all());
  } finally {
    file.close();
  }
}

function peopleIn(dataDir: string) {
  const file = new Sqlite(join(dataDir, 'platform.db'), { readonly: true });
  try {
    const one = (sql: string) => file.prepare(sql).pluck().get();
    return {
      members: one('SELECT count(*) FROM members'),
      roles: one('SELECT count(DISTINCT role_code) FROM members'),
      subjects: one('SELECT count(*) FROM subjects'),
      plan: one("SELECT plan_code FROM tenants WHERE slug = 'demo'"),
    };
  } finally {
    file.close();
  }
}

describe('duebook demo', function () {
  // Some tests create 300 contracts, the first one twice.
  this.timeout(180_000);
  const install = installations();
  const installOnce = installations(after);
  /** The demo of the current day, for tests that only read it. */
  let today: Installation;
  let answered: Outcome;
  before('create the demo of the current day', async () => {
    today = await installOnce();
    answered = await today.inProcess(['demo', '--no-serve', '--json']);
  });
  const clock = fakeClock('2026-03-15T08:00:00.000Z');

  it('creates the same data in every installation, with all its members, and reuses it the next time', async () => {
    const [one, other] = [await install(), await install()];
    const first = await one.inProcess(['demo', '--no-serve', '--json'], { clock });
    expect(first.stderr).to.equal('');
    expect(made(first)).to.deep.include({ created: true });
    await other.inProcess(['demo', '--no-serve'], { clock });
    const data = demoDataIn(one.dataDir);
    expect(demoDataIn(other.dataDir)).to.deep.equal(data);
    expect(data.contracts).to.have.length(300);
    expect(data.lines).to.have.length(3_000);
    expect(data.trash).to.have.length(3);
    expect(data.imports.map(([, failed]) => failed)).to.deep.equal([2]);
    expect(data.runs.map(([, status]) => status)).to.have.members(['applied', 'needs_review', 'needs_review']);
    expect(data.files.map(([, kind]) => kind)).to.have.members([
      'contract_original',
      'contract_original',
      'invoice',
      'other_evidence',
      'receipt',
    ]);
    expect(new Set(data.invoices.map(([, , , status]) => status))).to.deep.equal(
      new Set(['draft', 'issued', 'void', 'red_letter']),
    );
    expect(new Set(data.tasks.map(([, , status]) => status))).to.deep.equal(new Set(TASK_STATUSES));
    expect(new Set(data.events.map(([, kind]) => kind))).to.deep.equal(
      new Set(['created', 'stage_changed', 'locked', 'unlocked', 'transition_denied']),
    );
    // No member is notified that a contract is in the wrong stage.
    const stages = new Map(demoBook('2026-03-15').map(({ input, stageCode }) => [input.contractNo, stageCode]));
    for (const row of data.contracts) expect(row[12], String(row[0])).to.equal(stages.get(String(row[0])));
    expect(negativeMonthsIn(one.dataDir)).to.deep.equal([]);
    expect(peopleIn(one.dataDir)).to.deep.equal({ members: 12, roles: 7, subjects: 3, plan: 'enterprise' });

    clock.advance(86_400_000);
    const second = await one.inProcess(['demo', '--no-serve', '--json'], { clock });
    expect(made(second)).to.deep.equal({ ...made(first), created: false });
    expect(demoDataIn(one.dataDir)).to.deep.equal(data);
  });

  it('generates a password, stores it readable by the owner only, and prints it each time', async () => {
    const { signIn } = made(answered);
    const path = join(today.dataDir, 'demo-password');
    expect(readFileSync(path, 'utf8').trim()).to.equal(signIn.password);
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    expect((await today.inProcess(['demo', '--no-serve'])).stdout).to.contain(signIn.password);
  });

  it('continues where it was killed, and ends with the same data', async () => {
    // The process uses the real date, like the demo of the current day.
    const killed = await install();
    // During the configuration before the contracts: the transitions of the demo's lifecycle follow those of the
    // shipped one.
    const early = killed.start(['demo', '--no-serve']);
    await untilThere('lifecycle_transitions', { count: 16, dataDir: killed.dataDir, running: early });
    early.kill('SIGKILL');
    await early.ended;
    for (const contracts of [120]) {
      const running = killed.start(['demo', '--no-serve']);
      await untilThere('contracts', { count: contracts, dataDir: killed.dataDir, running });
      running.kill('SIGKILL');
      await running.ended;
      expect(demoDataIn(killed.dataDir).contracts.length).to.be.within(contracts, 299);
      expect(peopleIn(killed.dataDir).plan).to.equal('free');
    }
    // During or after the records around the contracts, which takes only a moment.
    for (const [table, count] of [
      ['import_batches', 1],
      ['saved_views', 2],
      ['reminders', 90],
    ] as const) {
      const running = killed.start(['demo', '--no-serve']);
      await untilThere(table, { count, dataDir: killed.dataDir, running });
      running.kill('SIGKILL');
      await running.ended;
    }
    await killed.inProcess(['demo', '--no-serve', '--json']);
    expect(demoDataIn(killed.dataDir)).to.deep.equal(demoDataIn(today.dataDir));
    expect(peopleIn(killed.dataDir)).to.deep.equal({ members: 12, roles: 7, subjects: 3, plan: 'enterprise' });
  });

  it('serves, prints three lines for a shell that each work alone, and stops on SIGTERM', async function () {
    skipUnless(this, 'bash', 'curl');
    const { start, folder, dataDir } = await install();
    cpSync(today.dataDir, dataDir, { recursive: true });
    const running = start(['demo'], { env: { PORT: '0' } });
    const printed = await running.printed('Press Ctrl-C to stop.');
    const lines = printed.split('\n').filter((line) => line.trimStart().startsWith('curl '));
    expect(lines).to.have.length(3);
    // The text around the lines must not match.
    expect(printed.match(/curl /g)).to.have.length(3);
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    const answers = lines.map(
      (line) =>
        JSON.parse(execFileSync('bash', ['-c', `${line.trim()} --fail`], { cwd: empty, encoding: 'utf8' })) as Record<
          string,
          unknown
        >,
    );
    expect(answers[0]).to.include.keys('accessToken', 'tenant', 'user');
    expect(answers[1]?.['items']).to.be.an('array').with.length(5);
    expect(answers[1]).to.have.nested.property('items[0].isOverdue', true);
    expect(answers[2]).to.deep.include({
      paymentStatus: 'paid',
      reconciliationStatus: 'matched',
      outstandingAmount: 0,
    });
    // The sign-in example of the page / has an account of the demo.
    const address = /Service +(http:\/\/[^/]+)/.exec(printed)?.[1] ?? '';
    const [, email = 'none'] = /email (\S+), password/.exec(printed) ?? [];
    expect(await (await fetch(`${address}/`)).text())
      .to.contain(email)
      .and.not.contain('acme');
    running.kill('SIGTERM');
    expect(await running.ended).to.deep.include({ code: 0 });
  });

  it('is refused in production', async () => {
    const { inProcess, dataDir } = await install();
    const env = {
      NODE_ENV: 'production',
      PUBLIC_URL: 'https://book.acme.example',
      MFA_REQUIRED_FOR_ADMINS: 'false',
      FILE_SCAN_MODE: 'off',
      SECRET_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
    };
    const { code, stdout, stderr } = await inProcess(['demo', '--json'], { env });
    expect((JSON.parse(stderr) as { error: { code: string } }).error.code).to.equal('DEMO_IN_PRODUCTION');
    expect(stdout).to.equal('');
    expect(existsSync(dataDir)).to.equal(false);
    expect(code).to.equal(1);
  });

  it('does not change an organisation "demo" that it did not create', async () => {
    const { inProcess, dataDir } = await install();
    await inProcess([
      'bootstrap',
      '--tenant-slug',
      'demo',
      '--tenant-name',
      'Ours',
      '--email',
      'ann@ours.example',
      '--name',
      'Ann Lee',
      '--plan',
      'free',
    ]);
    const { code, stderr } = await inProcess(['demo', '--no-serve', '--json']);
    expect((JSON.parse(stderr) as { error: { code: string } }).error.code).to.equal('DEMO_TENANT_TAKEN');
    expect(peopleIn(dataDir)).to.deep.equal({ members: 1, roles: 1, subjects: 1, plan: 'free' });
    expect(code).to.equal(1);
  });

  it('reports a port in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    try {
      const address = other.address();
      const port = typeof address === 'object' && address ? String(address.port) : '';
      const { code, stderr } = await today.inProcess(['demo', '--json'], { env: { PORT: port } });
      const { error } = JSON.parse(stderr) as { error: { code: string; message: string } };
      expect(error).to.deep.equal({
        code: 'EADDRINUSE',
        message: `127.0.0.1:${port} is in use; set PORT to another port`,
      });
      expect(code).to.equal(1);
    } finally {
      await new Promise((resolve) => other.close(resolve));
    }
  });
});

/** Polls the database until it has this many rows, while the process is running. */
async function untilThere(
  table: string,
  { count, dataDir, running }: { count: number; dataDir: string; running: Running },
): Promise<void> {
  let hasEnded = false;
  void running.ended.then(() => (hasEnded = true));
  const path = join(dataDir, 'tenant.db');
  // Opened once: each opening reads the whole schema, which would cost more than the demo itself.
  let file: Sqlite.Database | undefined;
  try {
    for (;;) {
      if (file === undefined && existsSync(path)) file = new Sqlite(path, { readonly: true });
      if (file !== undefined && rowsIn(table, file) >= count) return;
      if (hasEnded) throw new Error(`it ended before there were ${count} ${table}`);
      await sleep(5);
    }
  } finally {
    file?.close();
  }
}

const rowsIn = (table: string, file: Sqlite.Database): number =>
  file.prepare('SELECT count(*) FROM sqlite_master WHERE name = ?').pluck().get(table) === 1
    ? Number(file.prepare(`SELECT count(*) FROM ${table}`).pluck().get())
    : 0;
