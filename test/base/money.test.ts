import { expect } from 'chai';
import fc from 'fast-check';
import {
  decimalsOf,
  isAmountProblem,
  isCurrency,
  multiply,
  ratio,
  splitMinor,
  sumMinor,
  taxIncluded,
  toMajor,
  toMinor,
  unitPriceNumber,
  unitPriceText,
} from '../../data-plane-agent/base/money.js';

const CAPS = { JPY: 9e12, CNY: 9e14, KWD: 9e15, CLF: 5e15 };
// Above 2^43 major units, JSON numbers cannot distinguish all amounts with 3 decimals.
const EXACT_IN_JSON = { ...CAPS, KWD: 2 ** 43 * 1000 };
const currencies = fc.constantFrom<keyof typeof CAPS>('JPY', 'CNY', 'KWD', 'CLF');
const amounts = currencies.chain((currency) =>
  fc.record({
    currency: fc.constant(currency),
    minor: fc.integer({ min: -EXACT_IN_JSON[currency], max: EXACT_IN_JSON[currency] }),
  }),
);

describe('money', () => {
  it('knows the decimals of ISO 4217', () => {
    expect(['JPY', 'CNY', 'KWD', 'CLF', 'XCG', 'XAF'].map(decimalsOf)).to.deep.equal([0, 2, 3, 4, 2, 0]);
    expect(['cny', 'ZZZ', 'XXX', 'XTS', '', '__proto__'].filter(isCurrency)).to.deep.equal([]);
    expect(() => decimalsOf('ZZZ')).to.throw(RangeError, 'ZZZ');
  });

  describe('major and minor units', () => {
    it('convert both ways without loss up to the maximum, with 0, 2, 3 and 4 decimals', () => {
      fc.assert(
        fc.property(amounts, ({ currency, minor }) => {
          expect(toMinor(toMajor(minor, currency), currency)).to.equal(minor);
        }),
        { numRuns: 2000 },
      );
    });

    it('survive JSON just below the maximum, where the gaps between numbers are widest', () => {
      fc.assert(
        fc.property(currencies, fc.integer({ min: 0, max: 100_000 }), (currency, below) => {
          const minor = EXACT_IN_JSON[currency] - below;
          const sent: unknown = JSON.parse(JSON.stringify(toMajor(minor, currency)));
          expect(toMinor(Number(sent), currency)).to.equal(minor);
        }),
      );
    });

    it('return every number that was sent, up to the maximum', () => {
      fc.assert(
        fc.property(currencies, fc.double({ min: 0, max: 1, noNaN: true }), (currency, share) => {
          const cap = toMajor(CAPS[currency], currency);
          const sent = Number((cap * share).toFixed(decimalsOf(currency)));
          const minor = toMinor(sent, currency);
          if (isAmountProblem(minor)) throw new Error(minor.message);
          expect(toMajor(minor, currency)).to.equal(sent);
        }),
      );
      expect(toMinor(9e12, 'KWD')).to.equal(9e15);
    });

    it('use the decimal digits as written, not the binary value', () => {
      expect(toMinor(1.15, 'CNY')).to.equal(115);
      expect(toMinor(8.29, 'CNY')).to.equal(829);
      expect(toMinor(-0, 'CNY')).to.equal(0);
      expect(toMinor(1e3, 'JPY')).to.equal(1000);
    });

    it('refuse more decimals than the currency has', () => {
      expect(toMinor(0.5, 'JPY')).to.deep.equal({
        problem: 'TOO_MANY_DECIMALS',
        message: 'must have at most 0 decimals in JPY',
      });
      for (const amount of [0.1 + 0.2, 1.005, 1e-7, -0.001]) {
        expect(toMinor(amount, 'CNY'), String(amount)).to.have.property('problem', 'TOO_MANY_DECIMALS');
      }
    });

    it('refuse values above the maximum and values that are not numbers, of either sign', () => {
      expect(toMinor(9e12, 'CNY')).to.equal(9e14);
      for (const amount of [9e12 + 0.01, -9e12 - 1, 1e21, 1e308, -1.7e308]) {
        expect(toMinor(amount, 'CNY'), String(amount)).to.have.property('problem', 'TOO_LARGE');
      }
      expect(toMinor(5e11 + 1, 'CLF')).to.deep.equal({
        problem: 'TOO_LARGE',
        message: 'must be <= 500000000000 in CLF',
      });
      for (const amount of [Number.NaN, Infinity, -Infinity]) {
        expect(toMinor(amount, 'CNY')).to.have.property('problem', 'NOT_A_NUMBER');
      }
    });
  });

  describe('a product', () => {
    it('is rounded once, half away from zero', () => {
      expect(multiply(1, '0.005', 'CNY')).to.equal(1);
      expect(multiply(-1, '0.005', 'CNY')).to.equal(-1);
      expect(multiply(3, '0.333333', 'CNY')).to.equal(100);
      expect(multiply(1, '0.004999', 'CNY')).to.equal(0);
      expect(multiply(1, 1.005, 'CNY')).to.equal(101);
      expect(multiply(7, '2.5', 'JPY')).to.equal(18);
    });

    it('is within half a minor unit of the exact product, for every currency', () => {
      fc.assert(
        fc.property(
          currencies,
          fc.integer({ min: 1, max: 1e6 }),
          fc.integer({ min: 0, max: 1e11 }),
          (currency, quantity, millionths) => {
            const price = unitPriceText(millionths / 1e6);
            if (isAmountProblem(price)) throw new Error(price.message);
            const product = multiply(quantity, price, currency);
            if (isAmountProblem(product)) throw new Error(product.message);
            const twiceTheError =
              2n *
              (BigInt(product) * 1_000_000n -
                BigInt(quantity) * BigInt(millionths) * 10n ** BigInt(decimalsOf(currency)));
            // The upper bound is inclusive, because halves are rounded up.
            expect(twiceTheError > -1_000_000n && twiceTheError <= 1_000_000n).to.equal(true);
          },
        ),
      );
    });

    it('is refused above the maximum', () => {
      expect(multiply(9_000_000, '1000000', 'CNY')).to.equal(9e14);
      expect(multiply(9_000_001, '1000000', 'CNY')).to.have.property('problem', 'TOO_LARGE');
      expect(() => multiply(1.5, '1', 'CNY')).to.throw(RangeError);
      expect(() => multiply(1, 'one', 'CNY')).to.throw(RangeError);
    });
  });

  describe('shares', () => {
    it('are rounded down, and the last one gets the remainder', () => {
      expect(splitMinor(1000, 3)).to.deep.equal([333, 333, 334]);
      expect(splitMinor(2, 3)).to.deep.equal([0, 0, 2]);
      expect(splitMinor(-10, 3)).to.deep.equal([-4, -4, -2]);
      expect(() => splitMinor(10, 0)).to.throw(RangeError);
    });

    it('always add up to the total, and all but the last are equal', () => {
      fc.assert(
        fc.property(fc.integer({ min: -9e15, max: 9e15 }), fc.integer({ min: 1, max: 400 }), (total, parts) => {
          const shares = splitMinor(total, parts);
          expect(shares.reduce((sum, share) => sum + BigInt(share), 0n)).to.equal(BigInt(total));
          expect(new Set(shares.slice(0, -1)).size).to.be.at.most(1);
          expect((shares.at(-1) ?? 0) - (shares[0] ?? 0)).to.be.within(0, parts - 1);
        }),
      );
    });
  });

  it('sums exactly even if intermediate sums cannot be represented as a float', () => {
    expect(sumMinor([9e15, 9e15, 1, -9e15, -9e15], 'KWD')).to.equal(1);
    expect(sumMinor([], 'CNY')).to.equal(0);
    expect(sumMinor([9e14, 1], 'CNY')).to.have.property('problem', 'TOO_LARGE');
  });

  it('gives ratios with 4 decimals, and null instead of a division by zero', () => {
    expect(ratio(1, 3)).to.equal(0.3333);
    expect(ratio(2, 3)).to.equal(0.6667);
    expect(ratio(-1, 20_000)).to.equal(-0.0001);
    expect(ratio(0, 5)).to.equal(0);
    expect(ratio(5, 0)).to.equal(null);
  });

  describe('the tax inside an amount', () => {
    it('is amount × r / (100 + r), rounded half away from zero', () => {
      expect(taxIncluded(11_300, 13)).to.deep.equal({ tax: 1300, net: 10_000 });
      expect(taxIncluded(10_000, '6')).to.deep.equal({ tax: 566, net: 9434 });
      expect(taxIncluded(-11_300, 13)).to.deep.equal({ tax: -1300, net: -10_000 });
      expect(taxIncluded(1, 100)).to.deep.equal({ tax: 1, net: 0 });
      expect(taxIncluded(10_000, 0)).to.deep.equal({ tax: 0, net: 10_000 });
      expect(() => taxIncluded(100, -1)).to.throw(RangeError);
    });

    it('and the net always add up to the amount, and a credit mirrors its debit', () => {
      fc.assert(
        fc.property(fc.integer({ min: 0, max: 9e15 }), fc.integer({ min: 0, max: 10_000 }), (amount, hundredths) => {
          const { tax, net } = taxIncluded(amount, hundredths / 100);
          expect(BigInt(tax) + BigInt(net)).to.equal(BigInt(amount));
          const error = 2n * (BigInt(tax) * BigInt(10_000 + hundredths) - BigInt(amount) * BigInt(hundredths));
          expect(error > -BigInt(10_000 + hundredths) && error <= BigInt(10_000 + hundredths)).to.equal(true);
          expect(taxIncluded(-amount, hundredths / 100).tax + tax).to.equal(0);
        }),
      );
    });
  });

  describe('a unit price', () => {
    it('is plain decimal text, without exponent or trailing zeros', () => {
      expect([0, 5, 1.5, 0.000001, 1e12, -0.25].map(unitPriceText)).to.deep.equal([
        '0',
        '5',
        '1.5',
        '0.000001',
        '1000000000000',
        '-0.25',
      ]);
      expect(unitPriceText(1e-7)).to.have.property('problem', 'TOO_MANY_DECIMALS');
      expect(unitPriceText(9.1e12)).to.have.property('problem', 'TOO_LARGE');
      expect(unitPriceText(Number.NaN)).to.have.property('problem', 'NOT_A_NUMBER');
      expect(() => unitPriceNumber('1,5')).to.throw(RangeError);
    });

    it('is returned as the number that was sent', () => {
      fc.assert(
        fc.property(fc.integer({ min: 0, max: 9e15 }), (millionths) => {
          const text = unitPriceText(millionths / 1e6);
          if (isAmountProblem(text)) throw new Error(text.message);
          expect(text).to.match(/^\d+(\.\d{0,5}[1-9])?$/);
          expect(unitPriceNumber(text)).to.equal(millionths / 1e6);
        }),
      );
    });
  });
});
