import { expect } from 'chai';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { migrate } from '../../data-plane-agent/base/database/migrator.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { createRefusals, type Refusals } from '../../server/audit/refusals.js';
import { createRecordRepeats } from '../../server/audit/repeats.js';
import type { Principal } from '../../server/access/principal.js';
import { PLATFORM_MIGRATIONS } from '../../server/store/migrations/index.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import { forEachDatabase, type FreshDatabase } from '../support/database.js';
import { aRequest } from '../support/product.js';

const HOUR_MS = 3_600_000;

forEachDatabase((_kind, fresh) => {
  describe('refusals that are recorded', () => {
    let place: FreshDatabase;
    let database: Database;
    let clock: FakeClock;
    let tenantId: string;
    const logged: Record<string, unknown>[] = [];
    const log = createLog({
      level: 'error',
      name: 'test',
      destination: { write: (line) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
    });

    before(async () => {
      place = await fresh();
      ({ database } = place);
      await migrate(database, PLATFORM_MIGRATIONS);
    });
    beforeEach(() => {
      clock = fakeClock();
      tenantId = newId();
      logged.length = 0;
    });

    const recorder = (options: { database?: Database; most?: number } = {}): Refusals =>
      createRefusals({ database, clock, log, ...options });
    const refuse = (
      refusals: Refusals,
      { route = 'GET /audit', userId = NOBODY }: { route?: string; userId?: string } = {},
    ) =>
      refusals.record({
        principal: { sessionId: 's', tenant: { id: tenantId }, user: { id: userId, name: 'Ann' } } as Principal,
        request: aRequest(),
        route,
        code: 'FORBIDDEN',
        needs: 'admin (view)',
      }); // the parts that the audit reads
    const rows = async (): Promise<Record<string, unknown>[]> =>
      (
        await database.read({ tenantId: null }, (tx) =>
          tx.all('SELECT changes FROM audit_log WHERE tenant_id = ? ORDER BY id', [tenantId]),
        )
      ).map((row) => JSON.parse(String(row['changes'])) as Record<string, unknown>);
    const endHour = async () => {
      clock.advance(HOUR_MS + 10 * 60_000);
      await createRecordRepeats({ database, clock })();
    };

    it('are counted over all processes, and recorded as a total', async () => {
      const processes = [
        recorder(),
        recorder({ database: await place.again() }),
        recorder({ database: await place.again() }),
      ];
      for (const one of processes) for (let n = 0; n < 5; n++) await refuse(one);
      for (const one of processes) await one.flush();
      expect(await rows()).to.have.length(1);
      await endHour();
      expect((await rows()).map(({ repeats }) => repeats)).to.deep.equal([undefined, 14]);
    });

    it('record the times of the first and the last', async () => {
      const refusals = recorder();
      await refuse(refusals);
      clock.advance(120_000);
      await refuse(refusals);
      await refusals.flush();
      await endHour();
      expect((await rows())[1]).to.include({
        repeats: 1,
        since: '2026-03-15T08:00:00.000Z',
        until: '2026-03-15T08:02:00.000Z',
      });
    });

    it('are counted separately for each hour', async () => {
      const refusals = recorder();
      for (let hour = 0; hour < 3; hour++) {
        await refuse(refusals);
        await refuse(refusals);
        await refusals.flush();
        await endHour();
      }
      expect((await rows()).map(({ repeats }) => repeats)).to.deep.equal([undefined, 1, undefined, 1, undefined, 1]);
    });

    it('are not lost when they are reported after their hour was recorded', async () => {
      const refusals = recorder();
      for (let n = 0; n < 4; n++) await refuse(refusals);
      await endHour();
      await refusals.flush();
      await endHour();
      expect(
        (await rows()).reduce((sum, { repeats }) => sum + (typeof repeats === 'number' ? repeats : 1), 0),
      ).to.equal(4);
    });

    it('are recorded separately for each route of a member, however many there are', async () => {
      const refusals = recorder();
      for (let n = 0; n < 130; n++) await refuse(refusals, { route: `GET /route-${n}` });
      expect((await rows()).map(({ route }) => route)).to.have.members(
        Array.from({ length: 130 }, (_, n) => `GET /route-${n}`),
      );
      await endHour();
      expect(await rows()).to.have.length(130);
    });

    it('are recorded once per route, code and required permission, whatever the request contains', async () => {
      const refusals = recorder();
      const who = {
        principal: { sessionId: 's', tenant: { id: tenantId }, user: { id: NOBODY, name: 'Ann' } } as Principal,
        request: aRequest(),
        route: 'POST /contracts',
      }; // the parts that the audit reads
      for (let n = 0; n < 130; n++)
        await refusals.record({ ...who, code: 'FIELD_NOT_EDITABLE', needs: `{"fields":["${n}"]}` });
      for (const needs of ['invoice (edit)', 'payment_entry (edit)'])
        for (let n = 0; n < 2; n++) await refusals.record({ ...who, code: 'FORBIDDEN', needs });
      await refusals.flush();
      await endHour();
      expect((await rows()).map(({ code, needs, repeats }) => [code, needs, repeats])).to.have.deep.members([
        ['FIELD_NOT_EDITABLE', '{"fields":["0"]}', undefined],
        ['FORBIDDEN', 'invoice (edit)', undefined],
        ['FORBIDDEN', 'payment_entry (edit)', undefined],
        ['FIELD_NOT_EDITABLE', undefined, 129],
        ['FORBIDDEN', 'invoice (edit)', 1],
        ['FORBIDDEN', 'payment_entry (edit)', 1],
      ]);
    });

    it('use limited memory; the others are counted by the database', async () => {
      const refusals = recorder({ most: 2 });
      for (let n = 0; n < 5; n++)
        for (const userId of [NOBODY, newId()]) await refuse(refusals, { userId, route: `GET /${n}` });
      for (let n = 0; n < 3; n++) await refuse(refusals, { route: 'GET /4' });
      await refusals.flush();
      await endHour();
      expect((await rows()).filter(({ route }) => route === 'GET /4').map(({ repeats }) => repeats)).to.deep.equal([
        undefined,
        undefined,
        3,
      ]);
    });

    it('wait for an unavailable database, which does not affect the refusals', async () => {
      let isUnavailable = true;
      const flaky: Database = Object.assign(Object.create(database) as Database, {
        write: ((scope, work) =>
          isUnavailable ? Promise.reject(new Error('no database')) : database.write(scope, work)) as Database['write'],
      });
      const refusals = recorder({ database: flaky });
      for (let n = 0; n < 3; n++) await refuse(refusals);
      await refusals.flush();
      expect(await rows()).to.deep.equal([]);
      expect(logged.map(({ msg }) => msg)).to.deep.equal(['refusals not recorded', 'refusals not recorded']);
      isUnavailable = false;
      await refusals.flush();
      await endHour();
      expect((await rows()).map(({ repeats }) => repeats)).to.deep.equal([undefined, 2]);
    });
  });
});

const NOBODY = '01890000-0000-7000-8000-0000000000ff';
