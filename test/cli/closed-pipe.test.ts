import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { program } from '../support/programs.js';

describe('a reader that closes the pipe early', () => {
  it('does not make the command fail', async () => {
    const command = spawn(process.execPath, [program('cli/main.ts'), 'keys', '--help'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    command.stdout.destroy();
    let reported = '';
    command.stderr.setEncoding('utf8').on('data', (text: string) => (reported += text));
    const [code] = (await once(command, 'close')) as [number | null];
    expect(reported).to.equal('');
    expect(code).to.equal(0);
  });
});
