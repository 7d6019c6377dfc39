import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { program } from '../support/programs.js';
import type { ReadMany } from '../support/read-many.js';

describe('the memory of a process that reads documents', function () {
  this.timeout(180_000); // each thread loads its libraries again

  it('is released when nothing is read, however often threads are started', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--expose-gc',
      program('test/support/read-many.ts'),
      '7',
    ]);
    const { before, busy, gone, idle } = JSON.parse(stdout) as ReadMany;
    // The allocator reuses some memory of the first threads, so usage settles only after a few.
    const [, , , , fifth = 0, , last = 0] = gone;
    expect(idle - before, stdout).to.be.lessThan(((busy - before) * 2) / 3);
    expect(last - fifth, stdout).to.be.lessThan(24);
  });
});
