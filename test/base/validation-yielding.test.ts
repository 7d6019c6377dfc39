import { expect } from 'chai';
import { s, type TSchema } from '../../data-plane-agent/base/schema.js';
import { checker, MAX_ISSUES } from '../../data-plane-agent/base/validation.js';
import { yieldingChecker } from '../../data-plane-agent/base/validation-yielding.js';

describe('validation that yields to the event loop', () => {
  const Line = s.object({
    amount: s.text({ max: 10 }),
    tags: s.optional(s.list(s.text({ max: 5 }), 3)),
    payer: s.optional(s.object({ name: s.text({ max: 20 }) })),
  });
  const Contract = s.object({
    number: s.text({ max: 20 }),
    lines: s.list(Line, 100_000),
    main: s.optional(Line),
  });
  const LINES = {
    valid: { amount: '1', tags: ['a'], payer: { name: ' Ann ' } },
    short: { amount: '' },
    unknown: { amount: '1', paid: true },
    deep: { amount: '1', tags: ['a', 'longer than five'], payer: { name: '' } },
    text: 'a line',
  } as const;

  /** What both find. */
  async function sameAsAtOnce(schema: TSchema, value: unknown): Promise<ReturnType<ReturnType<typeof checker>>> {
    const atOnce = checker(schema)(structuredClone(value));
    const piecewise = await yieldingChecker(schema)(value);
    expect(piecewise.ok).to.equal(atOnce.ok);
    if (piecewise.ok && atOnce.ok) expect(piecewise.value).to.deep.equal(atOnce.value);
    const pathsOf = (checked: typeof atOnce): readonly string[] =>
      checked.ok ? [] : checked.issues.map(({ path }) => path).sort();
    expect(pathsOf(piecewise)).to.deep.equal(pathsOf(atOnce));
    return piecewise;
  }

  it('finds what validation at once finds, in any mixture of lines', async () => {
    for (const first of Object.values(LINES))
      for (const second of Object.values(LINES))
        for (const main of [LINES.valid, LINES.deep, null, 'main']) {
          await sameAsAtOnce(Contract, { number: 'N1', lines: [first, second, LINES.valid], main });
          await sameAsAtOnce(Contract, { number: '', lines: [second, first] });
        }
    for (const value of [null, [], 'contract', {}, { number: 'N1' }, { number: 'N1', lines: {} }, { lines: null }])
      await sameAsAtOnce(Contract, value);
  });

  it('normalises a copy, and leaves what it was given', async () => {
    const given = { number: ' N1 ', lines: [LINES.valid, { amount: ' 2 ' }] };
    const before = structuredClone(given);
    const checked = await sameAsAtOnce(Contract, given);
    expect(given).to.deep.equal(before);
    expect(checked.ok && checked.value).to.deep.equal({
      number: 'N1',
      lines: [{ ...LINES.valid, payer: { name: 'Ann' } }, { amount: '2' }],
    });
  });

  it('lets others run while it validates what takes long, and finds the same', async () => {
    const lines: unknown[] = Array.from({ length: 60_000 }, (_, i) => ({
      amount: String(i),
      payer: { name: `N${i}` },
    }));
    let others = 0;
    let isOver = false;
    const count = (): void => {
      others += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const checked = await yieldingChecker(Contract)({ number: 'N1', lines });
    isOver = true;
    expect(others).to.be.greaterThan(1);
    expect(checked.ok && checked.value).to.deep.equal({ number: 'N1', lines });

    lines[59_999] = { amount: '' };
    lines[30_000] = { amount: '1', payer: {} };
    const refused = await yieldingChecker(Contract)({ number: 'N1', lines });
    expect(!refused.ok && refused.issues.map(({ path }) => path)).to.deep.equal([
      'lines[30000].payer.name',
      'lines[59999].amount',
    ]);
  });

  it('stops collecting at a thousand bad fields', async () => {
    const checked = await yieldingChecker(Contract)({
      number: 'N1',
      lines: Array.from({ length: 3_000 }, () => LINES.short),
    });
    expect(!checked.ok && checked.issues.length).to.equal(MAX_ISSUES);
  });
});
