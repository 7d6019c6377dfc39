import pg from 'pg';

/**
 * Counts what the connections of this process to PostgreSQL send while some work runs: each is answered before the next.
 * Call it where suites are defined.
 */
export function countingRoundTrips(): (work: () => Promise<unknown>) => Promise<number> {
  let sent = 0;
  const { query } = pg.Client.prototype;
  before('count round trips', () => {
    pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
      sent += 1;
      return Reflect.apply(query, this, args) as never; // what the same method returns
    };
  });
  after(() => {
    pg.Client.prototype.query = query;
  });
  return async (work) => {
    const before = sent;
    await work();
    return sent - before;
  };
}
