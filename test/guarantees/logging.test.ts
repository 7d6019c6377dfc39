import { expect } from 'chai';
import type { OperationList } from '../../data-plane-agent/plane/contract/data-plane.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import { read, sourceFiles } from '../support/source.js';

const page = read('docs/logging.md');
const product = sourceFiles().filter((file) => !file.startsWith('test/'));
const operations: OperationList = OPERATIONS;

/** The texts in backticks in the first cell of each table row. */
const firstCells = (from: string, to: string): string[] =>
  page
    .slice(page.indexOf(from), to === '' ? undefined : page.indexOf(to))
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, text = '']) => text));

/** The values of `action:`, including both branches of a conditional. */
const actions = new Set(
  product
    .filter((file) => file.startsWith('server/') || file.startsWith('cli/'))
    .flatMap((file) =>
      [...read(file).matchAll(/\baction: ([^,{}\n]*)/g)].flatMap(([, said = '']) =>
        [...said.replaceAll(/=== '\w+'/g, '').matchAll(/'([a-z]+(?:_[a-z]+)*)'/g)].map(([, action = '']) => action),
      ),
    ),
);

/** The literal message of each logged line; of a template the part before its first value. */
const messages = new Set(
  product.flatMap((file) =>
    [...read(file).matchAll(/\blog\.(?:trace|debug|info|warn|error|fatal)\((.*)/g)].flatMap(([, call = '']) =>
      [...call.matchAll(/(?:^|, | \? | : )(?:'([^']+)'|`([^`$]+)[^`]*`)/g)].map(
        ([, literal, template]) => literal ?? template ?? '',
      ),
    ),
  ),
);

describe('docs/logging.md', () => {
  it("lists every event of the platform's audit", () => {
    const written = new Set(firstCells('### Events of the platform', '### Events of contract data'));
    expect(actions.size).to.be.greaterThan(50);
    expect(
      [...actions].filter((action) => !written.has(action)),
      'add it to docs/logging.md',
    ).to.deep.equal([]);
  });

  it('lists no event that is never written', () => {
    const written = firstCells('### Events of the platform', '### Events of contract data');
    const source = product.map((file) => read(file)).join('\n');
    expect(written.filter((action) => !source.includes(`'${action}'`))).to.deep.equal([]);
  });

  it('lists every operation that the audit of contract data records once', () => {
    const reported = Object.entries(operations)
      .filter(([, { effect, isUpkeep }]) => effect === 'write' && !isUpkeep)
      .map(([name]) => name);
    const list = page.slice(page.indexOf('### Events of contract data'));
    const written = [...list.matchAll(/`([a-z][A-Za-z]+)`/g)]
      .map(([, name = '']) => name)
      .filter((name) => name in operations);
    expect(written.toSorted()).to.deep.equal(reported.toSorted());
  });

  it('lists every log line', () => {
    const written = firstCells('## The log', '## The audit');
    expect(messages.size).to.be.greaterThan(25);
    const missing = [...messages].filter(
      (message) =>
        !/^\$|^$/.test(message) &&
        !written.some(
          (text) =>
            text === message ||
            text.startsWith(message.trim()) ||
            (text.endsWith(' …') && message.startsWith(text.slice(0, -2))),
        ),
    );
    expect(missing, 'add it to docs/logging.md').to.deep.equal([]);
  });
});
