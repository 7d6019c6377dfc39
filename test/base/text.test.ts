import { expect } from 'chai';
import fc from 'fast-check';
import { hasLongRun, MAX_MARKS, normal, normalCut, type NormalForm } from '../../data-plane-agent/base/text.js';
import { s } from '../../data-plane-agent/base/schema.js';
import { checker } from '../../data-plane-agent/base/validation.js';
import { attachmentDisposition } from '../../data-plane-agent/base/content-disposition.js';
import { caseFold } from '../../data-plane-agent/plane/domain/search.js';

const ACUTE = '\u0301';
const FORMS: readonly NormalForm[] = ['NFC', 'NFKC', 'NFKD'];
/**
 * Marks of one and two code units, marks that decompose into several, one that is a letter until NFKC, and characters
 * that are not marks.
 */
const PIECES = [
  ACUTE,
  '\u0316',
  '\u0344',
  '\u0f73',
  '\u{1d165}',
  '\u{e0100}',
  '\uff9e',
  '\ufe0f',
  'e',
  '字',
  '💶',
  '\u1f82',
  '\ufdfa',
  '\ud800',
  '\udc00',
  ' ',
];
const aText = fc
  .array(fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom(1, 2, 15, 29, 30, 31, 40)), { maxLength: 8 })
  .map((runs) => runs.map(([piece, times]) => piece.repeat(times)).join(''));

describe('a normalised text', () => {
  it('is as Unicode specifies, in each form', () => {
    for (const form of FORMS)
      for (const text of ['e\u0301', 'ﬁ１', 'Ａ', '한국', 'e'.repeat(31)])
        expect(normal(text, { max: 100, form })).to.deep.equal({ ok: true, text: text.normalize(form) });
  });

  it('is refused if it has more than thirty combining marks in a row, at any position and of any kind', () => {
    for (const mark of [ACUTE, '\u0316', '\u0f73', '\u{1d165}', '\u{e0100}', '\uff9e', '\u20dd', '\u0903']) {
      for (const [before, after] of [
        ['', ''],
        ['e', ''],
        ['', 'e'],
        ['x'.repeat(45), 'y'.repeat(7)],
        ['💶', '💶'],
      ] as const) {
        expect(normal(before + mark.repeat(MAX_MARKS) + after, { max: 1_000 }).ok, mark).to.equal(true);
        expect(normal(before + mark.repeat(MAX_MARKS + 1) + after, { max: 1_000 })).to.deep.equal({
          ok: false,
          problem: 'must have at most 30 combining marks in a row',
        });
      }
    }
  });

  it('is examined only up to its limit', () => {
    expect(normal(ACUTE.repeat(8_000_000), { max: 100 })).to.deep.equal({ ok: false, problem: 'is too long' });
    expect(normalCut('e'.repeat(200), { max: 100 })).to.equal('e'.repeat(100));
  });

  it('has the same runs of marks as a simple search finds', () => {
    fc.assert(
      fc.property(aText, (text) => hasLongRun(text) === /[\p{M}\uff9e\uff9f]{31}/u.test(text)),
      { numRuns: 2_000 },
    );
  });

  it('of a document loses only the marks beyond the thirtieth', () => {
    expect(normalCut(`a${ACUTE.repeat(31)}b`, { max: 1_000, form: 'NFKD' })).to.equal(`a${ACUTE.repeat(30)}b`);
    fc.assert(
      fc.property(aText, (text) => {
        const cut = normalCut(text, { max: 10_000 });
        return hasLongRun(text) ? !/\u0301{31}/.test(cut) : cut === text.normalize('NFC');
      }),
      { numRuns: 2_000 },
    );
  });

  it('takes linear, not quadratic, time', () => {
    const eightMillion = '\u0316\u0301'.repeat(4_000_000);
    const began = performance.now();
    for (const form of FORMS) {
      normal(eightMillion, { max: Infinity, form });
      normalCut(eightMillion.slice(0, 1_000_000), { max: Infinity, form });
    }
    expect(performance.now() - began).to.be.lessThan(2_000);
  });
});

describe('a case-folded text', () => {
  const LETTERS = Array.from({ length: 0x1_10_000 }, (_, point) => point)
    .filter((point) => point < 0xd800 || point > 0xdfff)
    .map((point) => String.fromCodePoint(point));

  it('is equal for both cases of every letter except the dotless i', () => {
    expect(
      LETTERS.filter((letter) =>
        [letter.toUpperCase(), letter.toLowerCase()].some((other) => caseFold(other) !== caseFold(letter)),
      ),
    ).to.deep.equal(['ı']);
    expect([caseFold('ı'), caseFold('I'), caseFold('İ')]).to.deep.equal(['ı', 'i', 'i\u0307']);
  });

  it('is equal for letters that regular expressions treat as equal', () => {
    const apart = LETTERS.filter(
      (letter) =>
        letter !== caseFold(letter) &&
        [...caseFold(letter)].length === 1 &&
        !new RegExp(`^${caseFold(letter)}$`, 'iu').test(letter.normalize('NFC')),
    );
    expect(apart).to.deep.equal([]);
  });

  it('expands letters that fold to several, and folding it again changes nothing', () => {
    for (const [letter, folded] of [
      ['ß', 'ss'],
      ['ẞ', 'ss'],
      ['ﬃ', 'ffi'],
      ['ŉ', 'ʼn'],
      ['ﬓ', 'մն'],
      ['ᾳ', 'αι'],
      ['ΐ', 'ΐ'],
    ] as const)
      expect(caseFold(letter), letter).to.equal(folded);
    expect(LETTERS.filter((letter) => caseFold(caseFold(letter)) !== caseFold(letter))).to.deep.equal([]);
  });

  it('does not depend on neighbouring letters', () => {
    const one = fc.constantFrom(
      'a',
      'Σ',
      'ς',
      'σ',
      'ß',
      'ẞ',
      'ı',
      'İ',
      'I',
      '\u212a',
      'µ',
      'ſ',
      'ǅ',
      'ﬃ',
      'ᾼ',
      'Α',
      '上',
      ' ',
      '.',
      '1',
      '😀',
    );
    fc.assert(
      fc.property(
        fc.array(one),
        (letters) => caseFold(letters.join('')) === letters.map(caseFold).join('').normalize('NFC'),
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('functions that receive texts from outside', () => {
  const check = checker(
    s.object({
      name: s.text(),
      note: s.optional(s.longText()),
      id: s.optional(s.id()),
      email: s.optional(s.email()),
      day: s.optional(s.day()),
      kind: s.optional(s.enum(['a'])),
    }),
  );
  const problemsOf = (value: object): string[] => {
    const checked = check({ name: 'n', ...value });
    return checked.ok ? [] : checked.issues.map(({ path, problem }) => `${path} ${problem}`);
  };

  it('refuse a run of marks in every kind of text, and name the field', () => {
    const run = `e${ACUTE.repeat(31)}`;
    expect(problemsOf({ name: run, note: run, id: run })).to.deep.equal(
      ['name', 'note', 'id'].map((field) => `${field} must have at most 30 combining marks in a row`),
    );
    for (const field of ['email', 'day', 'kind']) expect(problemsOf({ [field]: run }), field).to.have.lengthOf(1);
  });

  it('accept a text whose composed form is within the limit', () => {
    const apart = 'e\u0323\u0302'.repeat(500);
    expect(check({ name: apart })).to.deep.equal({ ok: true, value: { name: apart.normalize('NFC') } });
  });

  it('refuse a long text for its length, without normalising it', () => {
    const began = performance.now();
    for (const unit of [ACUTE, '\r\n', ' ', '💶', 'e\u0323\u0302'])
      expect(problemsOf({ name: unit.repeat(4_000_000) }), JSON.stringify(unit)).to.deep.equal([
        'name must have at most 500 characters',
      ]);
    expect(performance.now() - began).to.be.lessThan(2_000);
  });

  it('truncate runs in file names and search terms', () => {
    const began = performance.now();
    expect(attachmentDisposition(`a${ACUTE.repeat(100_000)}.pdf`)).to.match(/^attachment; filename="a/);
    expect(caseFold(`A${ACUTE.repeat(100)}`)).to.equal(`á${ACUTE.repeat(29)}`);
    expect(performance.now() - began).to.be.lessThan(500);
  });
});
