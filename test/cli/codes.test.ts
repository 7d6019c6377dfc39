import { expect } from 'chai';
import { isId } from '../../data-plane-agent/base/ids.js';
import { fakeClock } from '../support/clock.js';
import { installations, type Outcome } from '../support/cli.js';

interface Listed {
  id: string;
  planCode: string;
  status: string;
  expiresAt: string;
}
const listed = ({ stdout }: Outcome): Listed[] => (JSON.parse(stdout) as { codes: Listed[] }).codes;
const issued = ({ stdout }: Outcome) =>
  (JSON.parse(stdout) as { codes: { id: string; code: string; planCode: string; expiresAt: string }[] }).codes;

describe('duebook codes', () => {
  const install = installations();

  it('issues codes and shows them once', async () => {
    const { inProcess } = await install();
    await inProcess(['migrate']);
    const clock = fakeClock('2026-03-01T00:00:00.000Z');
    const outcome = await inProcess(
      ['codes', 'issue', '--plan', 'business', '--count', '3', '--expires', '90d', '--json'],
      { clock },
    );
    expect(outcome.code).to.equal(0);
    expect(outcome.stderr).to.equal('');
    const codes = issued(outcome);
    expect(codes).to.have.length(3);
    expect(new Set(codes.map(({ code }) => code)).size).to.equal(3);
    for (const { code, planCode, expiresAt } of codes) {
      expect(code.length).to.be.within(8, 80);
      expect({ planCode, expiresAt }).to.deep.equal({ planCode: 'business', expiresAt: '2026-05-30T00:00:00.000Z' });
    }

    const list = await inProcess(['codes', 'list', '--json'], { clock });
    const text = await inProcess(['codes', 'list'], { clock });
    expect(listed(list).map(({ id, status }) => ({ id, status }))).to.have.deep.members(
      codes.map(({ id }) => ({ id, status: 'open' })),
    );
    for (const { code } of codes) expect(list.stdout + text.stdout).not.to.contain(code);

    clock.set('2026-06-01T00:00:00.000Z');
    expect(listed(await inProcess(['codes', 'list', '--json'], { clock })).map(({ status }) => status)).to.deep.equal([
      'expired',
      'expired',
      'expired',
    ]);
  });

  it('prints codes one per line on standard output, and the description on standard error', async () => {
    const { inProcess } = await install();
    await inProcess(['migrate']);
    const { stdout, stderr } = await inProcess(['codes', 'issue', '--plan', 'pro', '--count', '2']);
    expect(stdout).to.match(/^\S{8,80}\n\S{8,80}\n$/);
    expect(stderr).to.match(/plan pro, valid until .*not shown again/);
  });

  it('revokes a code once, at a terminal after confirmation', async () => {
    const { inProcess } = await install();
    await inProcess(['migrate']);
    const [first, second] = issued(await inProcess(['codes', 'issue', '--plan', 'pro', '--count', '2', '--json']));
    if (!first || !second) throw new Error('two codes were asked for');

    const kept = await inProcess(['codes', 'revoke', first.id], { answers: ['n'] });
    expect(kept.code).to.equal(1);
    expect((await inProcess(['codes', 'revoke', first.id], { answers: ['y'] })).code).to.equal(0);
    expect((await inProcess(['codes', 'revoke', second.id, '--yes'], { answers: [] })).code).to.equal(0);
    expect(listed(await inProcess(['codes', 'list', '--json'])).map(({ status }) => status)).to.deep.equal([
      'revoked',
      'revoked',
    ]);

    const again = await inProcess(['codes', 'revoke', first.id, '--json']);
    expect((JSON.parse(again.stderr) as { error: { code: string } }).error.code).to.equal('NOT_FOUND');
    expect(again.code).to.equal(1);
  });

  it('treats an invalid id like an unknown one', async () => {
    const { inProcess } = await install();
    await inProcess(['migrate']);
    for (const id of ['nothing', '01985f6e-7c3a-7b44-9c1d-2f6b8d0e4a11']) {
      const { code, stderr } = await inProcess(['codes', 'revoke', id]);
      expect(stderr).to.equal(`duebook: there is no unused code with the id ${id}\n`);
      expect(code).to.equal(1);
    }
    expect(isId('nothing')).to.equal(false);
  });

  it('does not migrate implicitly, and says what to run', async () => {
    const { inProcess } = await install();
    const { code, stderr } = await inProcess(['codes', 'list', '--json']);
    expect((JSON.parse(stderr) as { error: { code: string; message: string } }).error).to.deep.include({
      code: 'NOT_MIGRATED',
    });
    expect(stderr).to.contain('duebook migrate');
    expect(code).to.equal(1);
  });
});
