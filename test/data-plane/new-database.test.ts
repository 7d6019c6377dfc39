import { expect } from 'chai';
import { forEachPlane } from '../support/plane.js';

describe('a new database', () => {
  forEachPlane(
    (_name, makePlane) => {
      it('has no table that PostgreSQL takes for an empty one: it would read it whole at each check of a foreign key', async () => {
        const { database, call } = makePlane();
        const tables = await database.read(call, (tx) =>
          tx.all(
            "SELECT relname, reltuples FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace",
          ),
        );
        expect(tables.length).to.be.greaterThan(30);
        const unknown = -1;
        expect(tables.filter(({ reltuples }) => Number(reltuples) !== unknown)).to.deep.equal([]);
      });
    },
    { only: ['postgres'] },
  );
});
