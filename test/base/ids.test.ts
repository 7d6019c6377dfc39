import { expect } from 'chai';
import { isId, newId } from '../../data-plane-agent/base/ids.js';

describe('ids', () => {
  it('are UUIDv7 in lower case, and sort by creation', () => {
    const made = Array.from({ length: 1000 }, newId);
    expect(
      made.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)),
    ).to.equal(true);
    expect([...made].sort()).to.deep.equal(made);
    expect(new Set(made).size).to.equal(1000);
  });

  it('have random bits of their own, however many are made', () => {
    const made = Array.from({ length: 10_000 }, newId);
    expect(new Set(made.map((id) => id.slice(-11))).size, 'the last 44 bits').to.equal(made.length);
    const firstOfEachMs = new Map(made.map((id) => [id.slice(0, 13), id] as const).toReversed());
    const counts = [...firstOfEachMs.values()].map((id) => id.slice(15, 23));
    expect(new Set(counts).size, 'where the count of each millisecond begins').to.equal(counts.length);
  });

  it('sort by creation while the clock is set back', () => {
    const before = newId();
    const { now } = Date;
    Date.now = () => now() - 60_000;
    try {
      expect([before, newId(), newId()].every((id, i, all) => i === 0 || id > (all[i - 1] ?? ''))).to.equal(true);
    } finally {
      Date.now = now;
    }
  });

  it('are recognised in any version, in canonical form only', () => {
    expect(
      [newId(), '11111111-1111-1111-1111-111111111111', '3f2504e0-4f89-41d3-9a0c-0305e82c3301'].every(isId),
    ).to.equal(true);
    const invalid = [
      '',
      '42',
      newId().toUpperCase(),
      `{${newId()}}`,
      newId().replaceAll('-', ''),
      `${newId()}\n`,
      ` ${newId()}`,
      `urn:uuid:${newId()}`,
    ];
    expect(invalid.filter(isId)).to.deep.equal([]);
  });
});
