import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { root } from '../support/source.js';

describe('a reader that stops before the end', () => {
  it('is no failure of the command that it reads from', async () => {
    const command = spawn(process.execPath, ['--import=tsx', 'cli/main.ts', 'keys', '--help'], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    command.stdout.destroy();
    let told = '';
    command.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
    const [code] = (await once(command, 'close')) as [number | null];
    expect(told).to.equal('');
    expect(code).to.equal(0);
  });
});
