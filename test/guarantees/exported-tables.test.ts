import { expect } from 'chai';
import { EXPORTED, NOT_EXPORTED } from '../../data-plane-agent/plane/tables/exported.js';
import { MOVED_NAMES } from '../../data-plane-agent/plane/tables/moved.js';

/** Columns that exports leave out, by table. */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  files: ['object_key', 'etag'],
  reminders: ['message_id'],
};

describe('an export of all data of an organisation', () => {
  it('has each table that is moved, or a reason why not', () => {
    const named = [...EXPORTED.map(({ table }) => table.name), ...Object.keys(NOT_EXPORTED)];
    expect(named).to.have.members([...MOVED_NAMES]);
  });

  it('has each of their columns once, under a name of its own', () => {
    for (const { kind, table, fields } of EXPORTED) {
      const left = LEFT_OUT[table.name] ?? [];
      const columns = fields.map(({ at }) => table.columns[at]);
      expect(columns, kind).to.have.members(table.columns.filter((name) => !left.includes(name)));
      expect(new Set(fields.map(({ name }) => name)).size, kind).to.equal(fields.length);
    }
  });

  it('has its kinds in the order of the tables, those that others refer to first', () => {
    const order = EXPORTED.map(({ table }) => MOVED_NAMES.indexOf(table.name));
    expect(order).to.deep.equal(order.toSorted((one, other) => one - other));
  });
});
