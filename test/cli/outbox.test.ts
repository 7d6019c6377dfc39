import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { OutboxEntry, OutboxResult } from '../../cli/outbox.js';
import { TenantStore } from '../../server/store/tenants.js';
import { installations, type Installation, type Outcome } from '../support/cli.js';
import { withProduct } from '../support/product.js';

const listed = ({ stdout }: Outcome) => (JSON.parse(stdout) as { messages: OutboxEntry[] }).messages;
const results = ({ stdout }: Outcome) => (JSON.parse(stdout) as { results: OutboxResult[] }).results;
const error = ({ stderr }: Outcome) => (JSON.parse(stderr) as { error: { code: string; message: string } }).error;

describe('duebook outbox', () => {
  const install = installations();

  /** An installation with a waiting and a failed message of both queues, and a delivered one. */
  async function acme() {
    const installation: Installation = await install();
    await installation.inProcess(
      ['bootstrap', '--tenant-slug', 'acme', '--tenant-name', 'Acme', '--email', 'ann@acme.example', '--name', 'Ann'],
      { input: 'Correct-Horse-42' },
    );
    const [waiting, failed, settled, mail, lost, channel] = [newId(), newId(), newId(), newId(), newId(), newId()];
    const now = Date.now();
    await withProduct({ DATA_DIR: installation.dataDir }, async ({ foundation: { platform, hosted } }) => {
      const tenantId = await platform.read(
        { tenantId: null },
        async (tx) => (await new TenantStore(tx).bySlug('acme'))?.id ?? '',
      );
      for (const [id, state, why] of [
        [waiting, 'queued', 'the receiver answered 503'],
        [failed, 'failed', 'the receiver answered 404'],
        [settled, 'settled', null],
      ] as const)
        await hosted?.database.write({ tenantId }, (tx) =>
          tx.run(
            "INSERT INTO outbox (tenant_id, id, topic, lane, reference, created_at, due_at, attempts, state, leased_until, expires_at, error) VALUES (?, ?, 'workflow.moved', ?, '{}', ?, ?, 3, ?, 0, ?, ?)",
            [tenantId, id, channel, now, now + 3_600_000, state, now + 86_400_000, why],
          ),
        );
      for (const [id, status, sealed] of [
        [mail, 'queued', 'sealed'],
        [lost, 'failed', null],
      ] as const)
        await platform.write({ tenantId: null }, (tx) =>
          tx.run(
            "INSERT INTO mail_outbox (id, tenant_id, template, language, recipient, values_sealed, status, attempts, next_at, last_error, created_at, updated_at) VALUES (?, ?, 'invitation', 'en', 'secret-recipient@acme.example', ?, ?, 1, ?, 'ECONNECTION', ?, ?)",
            [id, tenantId, sealed, status, now + 3_600_000, now, now],
          ),
        );
    });
    return { ...installation, waiting, failed, settled, mail, lost, channel };
  }

  it('lists what waits or has failed in both queues, without contents and addresses', async () => {
    const { inProcess, waiting, failed, settled, mail, lost, channel } = await acme();
    const all = await inProcess(['outbox', 'list', '--json']);
    expect([all.code, all.stderr]).to.deep.equal([0, '']);
    expect(listed(all).map(({ id }) => id)).to.have.members([waiting, failed, mail, lost]);
    expect(listed(all).find(({ id }) => id === failed)).to.deep.include({
      queue: 'outbox',
      tenant: 'acme',
      topic: 'workflow.moved',
      channel,
      status: 'failed',
      attempts: 3,
      nextAttemptAt: null,
      lastError: 'the receiver answered 404',
    });
    const text = await inProcess(['outbox', 'list']);
    expect(text.stdout)
      .to.contain(mail)
      .and.to.match(/^ID +QUEUE +TENANT/);
    expect(all.stdout + text.stdout).not.to.contain('secret-recipient');
    const ids = async (...args: string[]) =>
      listed(await inProcess(['outbox', 'list', ...args, '--json'])).map(({ id }) => id);
    expect(await ids('--tenant', 'acme', '--status', 'failed')).to.deep.equal([lost, failed]);
    expect(await ids('--status', 'settled')).to.deep.equal([settled]);
    expect(await ids('--limit', '1')).to.have.length(1);
  });

  it('retries by id, and all that failed; it says that a failed mail has lost its content', async () => {
    const { inProcess, waiting, failed, mail, lost } = await acme();
    const some = await inProcess(['outbox', 'retry', waiting, mail, lost, '--json']);
    expect(results(some)).to.deep.equal([
      { id: waiting, result: 'done' },
      { id: mail, result: 'done' },
      { id: lost, result: 'content_deleted' },
    ]);
    expect([some.code, error(some).code]).to.deep.equal([1, 'NOT_ALL_DONE']);
    const all = await inProcess(['outbox', 'retry', '--all-failed', '--tenant', 'acme']);
    expect([all.code, all.stdout]).to.deep.equal([0, `${failed}  due now\n`]);
    const now = Date.now();
    for (const { id, status, nextAttemptAt, attempts } of listed(await inProcess(['outbox', 'list', '--json'])))
      if (id !== lost) {
        expect(status).to.equal('queued');
        expect(Date.parse(nextAttemptAt ?? '')).to.be.at.most(now);
        expect(attempts).to.equal(id === failed ? 0 : id === mail ? 1 : 3);
      }
    expect((await inProcess(['outbox', 'retry', '--all-failed'])).stdout).to.contain('There is no such message');
  });

  it('discards messages without sending them, at a terminal after confirmation', async () => {
    const { inProcess, waiting, failed, settled, mail } = await acme();
    const refused = await inProcess(['outbox', 'discard', waiting], { answers: ['n'] });
    expect([refused.code, refused.stdout]).to.deep.equal([1, '']);
    expect((await inProcess(['outbox', 'discard', waiting, failed, mail, '--yes'])).code).to.equal(0);
    expect(results(await inProcess(['outbox', 'discard', settled, '--json'], { answers: ['y'] }))).to.deep.equal([
      { id: settled, result: 'ended' },
    ]);
    const left = listed(await inProcess(['outbox', 'list', '--json']));
    expect(left.filter(({ queue }) => queue === 'outbox')).to.deep.equal([]);
    expect(left.find(({ id }) => id === mail)).to.deep.include({ status: 'failed', lastError: 'DISCARDED' });
  });

  it('refuses unknown organisations, wrong ids and unclear requests', async () => {
    const { inProcess } = await acme();
    for (const [args, code, exit] of [
      [['list', '--tenant', 'nobody'], 'NOT_FOUND', 1],
      [['list', '--limit', '501'], 'USAGE', 2],
      [['list', '--status', 'lost'], 'USAGE', 2],
      [['retry'], 'USAGE', 2],
      [['retry', newId(), '--all-failed'], 'USAGE', 2],
      [['retry', 'not-an-id'], 'USAGE', 2],
      [['discard', newId()], 'NOT_ALL_DONE', 1],
    ] as const) {
      const outcome = await inProcess(['outbox', ...args, '--json']);
      expect([error(outcome).code, outcome.code], args.join(' ')).to.deep.equal([code, exit]);
    }
  });

  it('runs the examples of its help', async () => {
    const { inProcess } = await acme();
    for (const command of [['list'], ['retry'], ['discard']]) {
      const { stdout } = await inProcess(['outbox', ...command, '--help']);
      const examples = [...stdout.matchAll(/^ {2}\$ duebook (.+)$/gm)].map(([, line = '']) => line.split(' '));
      expect(examples).not.to.deep.equal([]);
      for (const args of examples) expect((await inProcess(args)).code).to.be.oneOf([0, 1]);
    }
  });
});
