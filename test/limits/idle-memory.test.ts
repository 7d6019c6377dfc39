import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { IdleLimit } from '../support/idle-program.js';
import { program } from '../support/programs.js';

/** V8 itself begins after a hundred seconds at the earliest. */
const LIMIT: IdleLimit = { withinMs: 60_000 };

describe('an idle process', () => {
  it('gives memory back to the system within a minute', async function () {
    this.timeout(1.5 * LIMIT.withinMs);
    const child = spawn(process.execPath, [program('test/support/idle-program.ts'), JSON.stringify(LIMIT)], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect({ said, code: code as unknown }).to.deep.equal({ said: '', code: 0 });
  });
});
