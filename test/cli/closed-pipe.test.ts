import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { program } from '../support/programs.js';

describe('a reader that stops before the end', () => {
  it('is no failure of the command that it reads from', async () => {
    const command = spawn(process.execPath, [program('cli/main.ts'), 'keys', '--help'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    command.stdout.destroy();
    let told = '';
    command.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
    const [code] = (await once(command, 'close')) as [number | null];
    expect(told).to.equal('');
    expect(code).to.equal(0);
  });
});
