import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { program } from '../../support/programs.js';
import type { ReadMany } from '../../support/read-many.js';

describe('the memory of a process that reads documents', function () {
  this.timeout(180_000); // each thread loads its libraries anew

  it('is given back when nothing is read, however often threads come and go', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--expose-gc',
      program('test/support/read-many.ts'),
      '7',
    ]);
    const { before, busy, gone, idle } = JSON.parse(stdout) as ReadMany;
    // The allocator keeps some of what the first threads had, for the next: it settles after some.
    const [, , , , fifth = 0, , last = 0] = gone;
    expect(idle - before, stdout).to.be.lessThan(((busy - before) * 2) / 3);
    expect(last - fifth, stdout).to.be.lessThan(24);
  });
});
