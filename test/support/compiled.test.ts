import { expect } from 'chai';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { ConfigurationError } from '../../data-plane-agent/base/config.js';

describe('the code that tests run on', () => {
  it('names the lines of the source in stacks', () => {
    const path = fileURLToPath(import.meta.url);
    const lines = readFileSync(path, 'utf8').split('\n');
    const line = lines.findIndex((text) => text.includes('new Error(' + "'here'")) + 1;
    const { stack = '' } = new Error('here');
    expect(stack).to.contain(`compiled.test.ts:${line}:`);
  });

  it('is loaded once, whether by a static or by a dynamic import', async () => {
    const again = await import('../../data-plane-agent/base/config.js');
    expect(again.ConfigurationError).to.equal(ConfigurationError);
  });

  it('is found by threads too', async () => {
    const thread = new Worker(new URL('../../data-plane-agent/base/instants.js', import.meta.url), { execArgv: [] });
    expect(await once(thread, 'exit')).to.deep.equal([0]);
  });
});
