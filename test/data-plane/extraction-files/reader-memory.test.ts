import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { READ_MANY, type ReadMany } from '../../support/read-many.js';
import { root } from '../../support/source.js';

describe('the memory of a process that reads documents', function () {
  this.timeout(180_000); // each thread reads its libraries from source

  it('is given back when nothing is read, however often threads come and go', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', '--import=tsx', READ_MANY, '7'], { cwd: root });
    const { before, busy, idle } = JSON.parse(stdout) as ReadMany;
    // The allocator keeps some of what the first threads had, for the next: it settles after some.
    const [, , , , fifth = 0, , last = 0] = idle;
    expect(last - before, stdout).to.be.lessThan(((busy - before) * 2) / 3);
    expect(last - fifth, stdout).to.be.lessThan(24);
  });
});
