import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installations } from '../support/cli.js';
import { needsPrograms } from '../support/needs-programs.js';
import { root } from '../support/source.js';
import { differences, stepsOf, walk } from '../support/tour.js';

describe('the README', function () {
  this.timeout(60_000);
  needsPrograms('bash', 'curl');
  const install = installations();

  it('has a tour in which every request gives the answer shown', async () => {
    const steps = stepsOf(readFileSync(join(root, 'README.md'), 'utf8'), 'A five-minute tour');
    expect(steps.filter(({ answer }) => answer !== undefined).length).to.be.at.least(12);
    const { start, folder } = await install();
    const running = start(['demo', '--json'], { env: { PORT: '0' } });
    const { url } = JSON.parse(await running.printed('\n}\n')) as { url: string };
    const printed = walk(steps, { cwd: folder, replace: [['http://localhost:8080', url]] });
    expect(printed).to.have.length(steps.length);
    const wrong = steps.flatMap(({ heading, answer }, i) => {
      const text = printed[i] ?? '';
      if (!answer) return [];
      if ('lines' in answer)
        return answer.lines
          .filter((line) => line !== '…' && !text.split(/\r?\n/).includes(line))
          .map((line) => `${heading}: does not print ${line}, but ${text.slice(0, 2_000)}`);
      return differences(answer.json, JSON.parse(text)).map((difference) => `${heading}: ${difference}`);
    });
    expect(wrong).to.deep.equal([]);
    running.kill('SIGTERM');
    expect(await running.ended).to.deep.include({ code: 0 });
  });
});
