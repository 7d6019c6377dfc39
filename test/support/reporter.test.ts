import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { program } from './programs.js';
import { root } from './source.js';

describe('the test reporter', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'duebook-reporter-'));
  });
  after(() => rm(directory, { recursive: true, force: true }));

  it('names failed tests, and ends with one summary line', async () => {
    expect(await run(`it('holds', () => {}); it('fails', () => { throw new Error('on purpose'); });`)).to.deep.equal({
      code: 1,
      end: ['failed: fails (on purpose)', '1 passed, 1 failed'],
    });
  });

  it('names each skipped test with its reason, also those of a whole suite', async () => {
    expect(await run(skipping)).to.deep.equal({
      code: 0,
      end: [
        'skipped: alone (not today)',
        'skipped: later (no reason given)',
        'skipped: suite a (no scanner here)',
        'skipped: suite b (no scanner here)',
        '1 passed, 0 failed, 4 skipped',
      ],
    });
  });

  it('counts a skipped test as failed where services are required', async () => {
    const { code, end } = await run(skipping, { REQUIRE_SERVICES: '1' });
    expect(code).to.equal(4);
    expect(end.slice(-2)).to.deep.equal(['failed, was skipped: suite b (no scanner here)', '1 passed, 4 failed']);
  });

  const skipping = `
    import { skip } from ${JSON.stringify(program('test/support/skip.ts'))};
    describe('suite', () => {
      before(function () { skip(this, 'no scanner here'); });
      it('a', () => {}); it('b', () => {});
    });
    it('alone', function () { skip(this, 'not today'); });
    it.skip('later', () => {});
    it('holds', () => {});`;

  /** Runs mocha with a file with this text; returns its exit code and its output after mocha's own summary. */
  async function run(text: string, env: Record<string, string> = {}): Promise<{ code: number; end: string[] }> {
    const file = join(directory, 'a.test.mjs');
    await writeFile(file, text);
    const { REQUIRE_SERVICES: _, ...outer } = process.env;
    const args = ['--no-config', '--reporter', join(root, 'test/support/reporter.cjs'), file];
    return new Promise((resolve) => {
      execFile(
        join(root, 'node_modules/.bin/mocha'),
        args,
        { cwd: root, env: { ...outer, ...env } },
        (error, stdout) => {
          const lines = stdout.trimEnd().split('\n');
          resolve({
            code: typeof error?.code === 'number' ? error.code : 0,
            end: lines.filter((line) => /^(skipped|failed|failed, was skipped): |^\d+ passed,/.test(line)),
          });
        },
      );
    });
  }
});
