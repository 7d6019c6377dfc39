import { expect } from 'chai';
import { AuditTrail } from '../../data-plane-agent/base/audit/trail.js';
import type { Value } from '../../data-plane-agent/base/database/database.js';
import { Insertion } from '../../data-plane-agent/base/database/insertion.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import { tenantTrail } from '../../data-plane-agent/plane/store/audit-of-tenant.js';
import { planOf } from '../support/explaining.js';
import { forEachPlane } from '../support/plane.js';
import { withMethods } from '../support/with-methods.js';

const EVENTS = new Insertion(
  'audit_log (tenant_id, id, at, actor_kind, actor_id, actor_name, ip, request_id, action, record_kind, record_id, changes)',
  "(?, ?, 1, 'user', NULL, 'Ann', NULL, 'r', 'a', 'contract', ?, '[]')",
);
const COUNT = 3_000;
/** Of PostgreSQL; SQLite's plans do not tell. */
const isChange = (plan: string): boolean => plan.startsWith('Update on audit_log');

/** Statistics are gathered some time after rows were written, and not at all by SQLite. */
describe('the plans by which audit events are chained, without statistics', () => {
  forEachPlane((name, makePlane) => {
    it('find each event by its key, however many there are', async () => {
      const { database, call } = makePlane();
      await database.write(call, (tx) =>
        tx.insert(
          EVENTS,
          Array.from({ length: COUNT }, () => [call.tenantId, newId(), newId()]),
        ),
      );
      const plans: string[] = [];
      await database.write(call, async (tx) => {
        const look = async (sql: string, values: readonly Value[] = []): Promise<void> => {
          if (sql.includes('actor_kind') || sql.startsWith('UPDATE audit_log'))
            plans.push(await planOf(tx, sql, values));
        };
        const watched = withMethods(tx, {
          all: async (sql, values) => {
            await look(sql, values);
            return tx.all(sql, values);
          },
          defer: async (sql, values) => {
            await look(sql, values);
            return tx.defer(sql, values);
          },
        });
        const trail = new AuditTrail(watched, parseKeyRing(generateKeyRingText()), tenantTrail(call, tx.dialect));
        expect((await trail.chain()).chained).to.equal(200);
      });
      expect(plans.length).to.be.greaterThan(10);
      const key = name === 'sqlite' ? 'sqlite_autoindex_audit_log_1 (tenant_id=? AND id=?)' : 'audit_log_pkey';
      const [changes, reads] = [plans.filter(isChange), plans.filter((plan) => !isChange(plan))];
      for (const plan of reads) expect(plan).to.contain(key).and.not.to.contain('audit_by_record');
      for (const plan of name === 'sqlite' ? plans : changes) expect(plan).to.not.contain('audit_unchained');
      if (name === 'postgres') expect(changes).to.have.length(reads.length);
    });
  });
});
