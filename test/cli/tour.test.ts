import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installations, type Running } from '../support/cli.js';
import { needsPrograms } from '../support/needs-programs.js';
import { root } from '../support/source.js';
import { differences, stepsOf, walk, type Step } from '../support/tour.js';

describe("the README's tour", function () {
  this.timeout(180_000);
  needsPrograms('bash', 'curl');
  const install = installations(after);
  const steps = stepsOf(readFileSync(join(root, 'README.md'), 'utf8'), 'A five-minute tour');
  let running: Running;
  let folder: string;
  let url: string;

  before('start the demo', async () => {
    const installation = await install();
    folder = installation.folder;
    running = installation.start(['demo', '--json'], { env: { PORT: '0' } });
    ({ url } = JSON.parse(await running.printed('\n}\n')) as { url: string });
  });

  const failures = (): string[] =>
    differencesOf(steps, walk(steps, { cwd: folder, replace: [['http://localhost:8080', url]] }));

  it('shows the actual answer of every request', () => {
    expect(steps.filter(({ answer }) => answer !== undefined).length).to.be.at.least(12);
    expect(failures()).to.deep.equal([]);
  });

  it('can be repeated on the same data', () => {
    expect(failures()).to.deep.equal([]);
  });

  it('ends with a demo that shuts down and exits 0', async () => {
    running.kill('SIGTERM');
    expect(await running.ended).to.deep.include({ code: 0 });
  });
});

/** The differences between the output of each step and the output that the README shows. */
function differencesOf(steps: readonly Step[], printed: readonly string[]): string[] {
  expect(printed).to.have.length(steps.length);
  return steps.flatMap(({ heading, answer }, i) => {
    const text = printed[i] ?? '';
    if (!answer) return [];
    if ('lines' in answer)
      return notInOrder(answer.lines, text).map(
        (line) => `${heading}: does not print ${line} there, but ${text.slice(0, 2_000)}`,
      );
    return differences(answer.json, JSON.parse(text)).map((difference) => `${heading}: ${difference}`);
  });
}

/** The documented lines that the output does not have after those before them. */
function notInOrder(lines: readonly string[], text: string): string[] {
  const printed = text.split(/\r?\n/);
  let next = 0;
  return lines.filter((line) => {
    if (line === '…') return false;
    const found = printed.indexOf(line, next);
    if (found !== -1) next = found + 1;
    return found === -1;
  });
}
