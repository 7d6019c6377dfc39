import { expect } from 'chai';
import fc from 'fast-check';
import {
  addDays,
  addMonths,
  dayFromSerial,
  daysBetween,
  instantOf,
  isTimeZone,
  isDay,
  parseDay,
  parseLooseDay,
  todayIn,
} from '../../data-plane-agent/base/day.js';

const days = fc
  .date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));
const modernDays = fc.integer({ min: 0, max: 365 * 60 }).map((n) => addDays('1980-01-01', n));
const zones = fc.constantFrom(
  'UTC',
  'Asia/Shanghai',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Pacific/Apia',
);

describe('civil days', () => {
  it('are parsed strictly', () => {
    expect(parseDay('2024-02-29')).to.equal('2024-02-29');
    expect(parseDay('0001-01-01')).to.equal('0001-01-01');
    expect(parseDay('9999-12-31')).to.equal('9999-12-31');
    const refused = [
      '2026-02-29',
      '2026-02-30',
      '1900-02-29',
      '2026-13-01',
      '2026-00-10',
      '2026-04-31',
      '0000-01-01',
      '2026-3-1',
      '2026/3/1',
      '20260301',
      ' 2026-03-01',
      '2026-03-01 ',
      '+002026-03-01',
      '2026-03-01T24:00:00Z',
      '2026-03-01T10:60',
      '2026-03-01T',
      '2026-03-01 10:00:00',
      '',
      '２０２６-03-01',
    ];
    expect(refused.filter((text) => parseDay(text) !== undefined)).to.deep.equal([]);
  });

  it('keep the calendar day of a timestamp as written, whatever its offset', () => {
    for (const time of ['T00:00:00Z', 'T23:59:59.999+14:00', 'T00:30-0800', 'T12:00:00.123456789', 't10:00:00z']) {
      expect(parseDay(`2026-03-01${time}`), time).to.equal('2026-03-01');
    }
    expect(parseDay('2026-02-30T00:00:00Z')).to.equal(undefined);
  });

  it('are recognised without a time only', () => {
    const texts = fc.oneof(
      fc.stringMatching(/^\d{3,5}-[01]?\d-[0-3]\d(T10:00(:00)?Z?)?$/),
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10)),
      fc.string(),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(isDay(text)).to.equal(parseDay(text) === text);
      }),
      { seed: 20_261_123, numRuns: 2_000 },
    );
  });

  it('agree with the calendar of Date about which days exist', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9999 }),
        fc.integer({ min: 0, max: 14 }),
        fc.integer({ min: 0, max: 33 }),
        (year, month, day) => {
          const text = [
            String(year).padStart(4, '0'),
            String(month).padStart(2, '0'),
            String(day).padStart(2, '0'),
          ].join('-');
          const date = new Date(`${text}T00:00:00Z`);
          const exists = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
          expect(parseDay(text)).to.equal(exists ? text : undefined);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('are also parsed in the formats of spreadsheets', () => {
    for (const text of [
      '2026/3/1',
      '2026/03/01',
      '2026年3月1日',
      '2026 年 03 月 01 日',
      ' 2026-03-01 ',
      '2026-03-01T09:00:00+08:00',
    ]) {
      expect(parseLooseDay(text), text).to.equal('2026-03-01');
    }
    expect(
      ['2026/2/30', '3/1/2026', '2026年3月', '2026-3-1'].filter((text) => parseLooseDay(text) !== undefined),
    ).to.deep.equal([]);
  });

  it('are parsed from XLSX serial numbers, also around the nonexistent 29 February 1900', () => {
    expect([1, 59, 61, 45_000, 45_000.99, 2_958_465].map(dayFromSerial)).to.deep.equal([
      '1900-01-01',
      '1900-02-28',
      '1900-03-01',
      '2023-03-15',
      '2023-03-15',
      '9999-12-31',
    ]);
    expect(
      [0, 0.5, -1, 60, 60.5, 2_958_466, Number.NaN, Infinity].filter((serial) => dayFromSerial(serial) !== undefined),
    ).to.deep.equal([]);
  });

  it('are added and compared over the whole range', () => {
    expect(addDays('2024-02-28', 2)).to.equal('2024-03-01');
    expect(addDays('0099-12-31', 1)).to.equal('0100-01-01');
    expect(daysBetween('2026-03-01', '2026-02-01')).to.equal(-28);
    fc.assert(
      fc.property(days, days, (a, b) => {
        expect(addDays(a, daysBetween(a, b))).to.equal(b);
        expect(daysBetween(a, b) > 0).to.equal(b > a);
      }),
    );
    expect(() => addDays('9999-12-31', 1)).to.throw(RangeError);
    expect(() => addDays('0001-01-01', -1)).to.throw(RangeError);
    expect(() => addDays('2026-03-01T00:00:00Z', 1)).to.throw(RangeError, 'not a civil day');
  });

  it('step by months from the anchor, clamped to the end of the month', () => {
    expect([0, 1, 2, 3, 13, -1, -2].map((n) => addMonths('2026-01-31', n))).to.deep.equal([
      '2026-01-31',
      '2026-02-28',
      '2026-03-31',
      '2026-04-30',
      '2027-02-28',
      '2025-12-31',
      '2025-11-30',
    ]);
    expect(addMonths('2024-02-29', 12)).to.equal('2025-02-28');
    expect(addMonths('2024-02-29', 48)).to.equal('2028-02-29');
    expect(() => addMonths('9999-12-01', 1)).to.throw(RangeError);
    fc.assert(
      fc.property(modernDays, fc.integer({ min: -240, max: 240 }), (anchor, n) => {
        const stepped = addMonths(anchor, n);
        const monthOf = (day: string) => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7));
        expect(monthOf(stepped) - monthOf(anchor)).to.equal(n);
        // Either the anchor's day of the month, or the last of a shorter month.
        expect(
          stepped.slice(8) === anchor.slice(8) ||
            (addDays(stepped, 1).endsWith('-01') && stepped < `${stepped.slice(0, 8)}${anchor.slice(8)}`),
        ).to.equal(true);
      }),
    );
  });
});

describe('time zones', () => {
  it('are IANA names', () => {
    expect(['UTC', 'Asia/Shanghai', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'].every(isTimeZone)).to.equal(true);
    expect(
      ['', '+08:00', 'Mars/Olympus', 'Asia/Shanghai ', '../UTC', 'A'.repeat(200)].filter(isTimeZone),
    ).to.deep.equal([]);
  });

  it('give the current day in the zone', () => {
    const instant = Date.parse('2026-03-01T16:30:00Z');
    expect(
      ['UTC', 'Asia/Shanghai', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'].map((zone) => todayIn(zone, instant)),
    ).to.deep.equal(['2026-03-01', '2026-03-02', '2026-03-02', '2026-03-01']);
    expect(todayIn('Asia/Shanghai', Date.parse('2026-03-01T15:59:59.999Z'))).to.equal('2026-03-01');
  });

  it('give the instant of an hour of a day', () => {
    expect(instantOf('2026-03-01', 9, 'Asia/Shanghai')).to.equal(Date.parse('2026-03-01T01:00:00Z'));
    expect(instantOf('2026-03-01', 0, 'Asia/Kathmandu')).to.equal(Date.parse('2026-02-28T18:15:00Z'));
    expect(() => instantOf('2026-03-01', 24, 'UTC')).to.throw(RangeError);
  });

  it('map a skipped hour to the next existing one', () => {
    expect(instantOf('2026-03-08', 2, 'America/New_York')).to.equal(Date.parse('2026-03-08T07:00:00Z'));
    expect(instantOf('2026-10-04', 2, 'Australia/Lord_Howe')).to.equal(Date.parse('2026-10-04T03:00:00+11:00'));
    expect(instantOf('2011-12-30', 9, 'Pacific/Apia')).to.equal(Date.parse('2011-12-31T00:00:00+14:00'));
  });

  it('map a repeated hour to its first occurrence', () => {
    expect(instantOf('2026-11-01', 1, 'America/New_York')).to.equal(Date.parse('2026-11-01T01:00:00-04:00'));
    expect(instantOf('2026-10-25', 2, 'Europe/Berlin')).to.equal(Date.parse('2026-10-25T02:00:00+02:00'));
  });

  it('give an instant of the same day, never before the hour, unless the day does not exist in the zone', () => {
    fc.assert(
      fc.property(modernDays, fc.integer({ min: 0, max: 22 }), zones, (day, hour, zone) => {
        fc.pre(zone !== 'Pacific/Apia' || day !== '2011-12-30');
        expect(todayIn(zone, instantOf(day, hour, zone))).to.equal(day);
        expect(instantOf(day, hour, zone)).to.be.lessThan(instantOf(day, hour + 1, zone) + 1);
      }),
      { numRuns: 300 },
    );
  });
});
