import { expect } from 'chai';
import fc from 'fast-check';
import { FINDING_TYPES } from '../../server/integrations/ai-gateway/finding-types.js';
import { withoutOverlaps } from '../../server/integrations/ai-gateway/findings.js';
import { inspectText } from '../../server/integrations/ai-gateway/inspect-text.js';
import { normalise } from '../../server/integrations/ai-gateway/normalise.js';
import { ownNumbersOf } from '../../server/integrations/ai-gateway/own-numbers.js';
import { processorTime } from '../support/processor-time.js';
import { aBankCard, aResidentId, anIban, anOrganisationCode, SECRETS, SLOW_PATTERNS } from './numbers.js';

const OWN = ownNumbersOf([{ taxNo: '91350100M000100Y43', defaultPayeeAccount: '1100-1234-5678' }]);

const aFinding = fc.oneof(
  aResidentId,
  anOrganisationCode,
  anIban,
  aBankCard,
  fc.stringMatching(/^1[3-9]\d{9}$/),
  fc.stringMatching(/^\+861[3-9]\d{9}$/),
  fc.stringMatching(/^[a-z]{3,8}\.[a-z]{2,5}@[a-z]{3,8}\.(com|cn|co\.uk)$/),
  fc.stringMatching(/^[EG]\d{8}$/),
  fc.ipV4(),
  fc.constantFrom('91350100M000100Y43', '1100 1234 5678', 'fe80::1', ...SECRETS),
);
/** Separates or does not separate what is around it, hides it, or looks like the beginning of something. */
const aFiller = fc.oneof(
  fc.constantFrom('，', ' ', ' and ', '\n', '-', '/', '.', '@', ':', '+', '(', '<', '>', '\u200b', '合同', 'é', '😀'),
  fc.constantFrom('passport ', 'http://', '://', 'sk-', '<EMAIL_1>', 'a', '1', '86', 'Tel', '::', '_', 'X', '㏂', '⒈'),
  fc.string({ maxLength: 6, unit: 'binary' }),
);
const anInput = fc.array(fc.oneof(aFinding, aFiller), { maxLength: 24 }).map((parts) => parts.join(''));
const aSentence = fc.array(aFinding, { minLength: 1, maxLength: 8 });

describe('the inspection of any text', () => {
  it('finds each value between other words, at its position in the text as it was sent', () => {
    fc.assert(
      fc.property(aSentence, (values) => {
        const input = values.map((value) => `客户：${value}；`).join('\u{1f600}');
        const { findings } = inspectText(input, OWN);
        expect(findings.map(({ start, end }) => input.slice(start, end))).to.deep.equal(values);
      }),
      { numRuns: 200 },
    );
  });

  it('leaves none of the found values in the masked text', () => {
    fc.assert(
      fc.property(aSentence, (values) => {
        const { redacted } = inspectText(values.map((value) => `(${value})`).join('，'), OWN);
        expect(values.filter((value) => redacted.includes(value))).to.deep.equal([]);
      }),
      { numRuns: 200 },
    );
  });

  it('has findings in order, without overlaps and within the text', () => {
    fc.assert(
      fc.property(anInput, (input) => {
        const { findings } = inspectText(input, OWN);
        const places = findings.flatMap(({ start, end }) => [start, end]);
        expect(places).to.deep.equal(places.toSorted((a, b) => a - b));
        expect(findings.every(({ start, end }) => start < end && end <= input.length)).to.equal(true);
      }),
      { numRuns: 500 },
    );
  });

  it('cuts exactly what it found: that part alone has the same normalised text', () => {
    fc.assert(
      fc.property(anInput, (input) => {
        const whole = normalise(input);
        for (const { start, end } of inspectText(input, OWN).findings) {
          const units = [...whole.from.keys()].filter(
            (unit) => (whole.from[unit] ?? 0) >= start && (whole.to[unit] ?? 0) <= end,
          );
          expect(normalise(input.slice(start, end)).text).to.equal(units.map((unit) => whole.text[unit]).join(''));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('finds nothing in a text that was masked', () => {
    fc.assert(
      fc.property(anInput, (input) => {
        const { redacted } = inspectText(input, OWN);
        const again = inspectText(redacted, OWN);
        expect(again.findings.map(({ type, start, end }) => [type, redacted.slice(start, end)])).to.deep.equal([]);
        expect(again.redacted).to.equal(redacted);
      }),
      { numRuns: 2_000 },
    );
  });

  it('masks a character as a whole of which only a part is in the longest address', () => {
    const local = `㏂${'1'.repeat(63)}`; // `am1…`, one unit too long
    const { redacted } = inspectText(`91350100000000000H${local}@example.com`, OWN);
    expect(redacted).to.equal('<USCC_1><EMAIL_1>');
    expect(inspectText(redacted, OWN).findings).to.deep.equal([]);
  });

  it('joins overlapping matches into one of the type that comes first', () => {
    const aMatch = fc
      .tuple(fc.constantFrom(...FINDING_TYPES), fc.nat({ max: 60 }), fc.integer({ min: 1, max: 20 }))
      .map(([type, start, length]) => ({ type, start, end: start + length }));
    fc.assert(
      fc.property(fc.array(aMatch, { maxLength: 12 }), (matches) => {
        const joined = withoutOverlaps(matches);
        const covered = (all: readonly { start: number; end: number }[]): number[] =>
          [...Array(100).keys()].filter((at) => all.some(({ start, end }) => start <= at && at < end));
        expect(covered(joined)).to.deep.equal(covered(matches));
        expect(joined.every((one, index) => index === 0 || one.start >= (joined[index - 1]?.end ?? 0))).to.equal(true);
        for (const one of joined)
          expect(
            matches.some(({ type, start, end }) => type === one.type && start >= one.start && end <= one.end),
          ).to.equal(true);
      }),
    );
  });
});

describe('the work of an inspection', () => {
  const [SHORT, LONG] = [4_000, 32_000];

  for (const pattern of SLOW_PATTERNS)
    it(`is linear in the length of ${JSON.stringify(pattern)} repeated`, () => {
      const work = (length: number, times: number): number => {
        const input = pattern.repeat(Math.ceil(length / pattern.length)).slice(0, length);
        const before = processorTime().user;
        for (let time = 0; time < times; time++) inspectText(input, OWN);
        return processorTime().user - before;
      };
      // The lesser of two: a collection of garbage, or V8 that compiles anew, belongs to neither length.
      const leastWork = (length: number, times: number): number => Math.min(work(length, times), work(length, times));
      work(SHORT, 8); // compiled first
      // As many characters in all: a square would be eight times the work.
      expect(leastWork(LONG, 3)).to.be.lessThan(4 * leastWork(SHORT, 3 * (LONG / SHORT)) + 20);
    });
});
