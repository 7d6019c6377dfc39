import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { program } from '../support/programs.js';

describe('an idle process', () => {
  it('gives memory back to the system within a minute', async function () {
    this.timeout(90_000);
    const child = spawn(process.execPath, [program('test/support/idle-program.ts')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect({ said, code: code as unknown }).to.deep.equal({ said: '', code: 0 });
  });
});
