import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { needsClamd, startClamd, type TestClamd } from '../support/clamd.js';
import { program } from '../support/programs.js';
import type { ScanMany } from '../support/scan-many.js';

describe('scanning 50 files of 40 MB, four at a time', () => {
  needsClamd();
  let clamd: TestClamd;
  const folder = mkdtempSync(join(tmpdir(), 'duebook-scan-'));
  before(async () => {
    clamd = await startClamd();
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await clamd?.stop();
  });

  it('needs less than 64 MB', async function () {
    this.timeout(240_000);
    const content = randomFillSync(Buffer.alloc(40_000_000));
    const path = join(folder, 'evidence');
    writeFileSync(path, content);
    const { stdout } = await promisify(execFile)(process.execPath, [
      program('test/support/scan-many.ts'),
      clamd.url,
      path,
      String(content.length),
      '50',
    ]);
    const { grownBytes } = JSON.parse(stdout) as ScanMany;
    expect(grownBytes)
      .to.be.lessThan(64 * 2 ** 20)
      .and.greaterThan(0);
  });
});
