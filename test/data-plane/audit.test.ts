import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { generateKeyRingText, parseKeyRing, sha256Hex } from '../../data-plane-agent/base/secrets.js';
import { beginningOf, linkAfter } from '../../data-plane-agent/base/audit/chain.js';
import { AuditTrail } from '../../data-plane-agent/base/audit/trail.js';
import type { AuditCheck } from '../../data-plane-agent/base/audit/records.js';
import { createLocalDataPlane } from '../../data-plane-agent/plane/local/index.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import { tenantTrail } from '../../data-plane-agent/plane/store/audit-of-tenant.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';
import { withMethods } from '../support/with-methods.js';

const write = ({ database, call }: TestPlane, sql: string, values: readonly (string | number | null)[] = []) =>
  database.write(call, (tx) => tx.run(sql, [...values]));
const rows = ({ database, call }: TestPlane, sql: string) => database.read(call, (tx) => tx.all(sql, [call.tenantId]));
const chained = (test: TestPlane) =>
  rows(test, 'SELECT id, position, hash FROM audit_log WHERE tenant_id = ? AND position IS NOT NULL ORDER BY position');

/** Checks the whole chain in steps. */
async function check(test: TestPlane): Promise<AuditCheck> {
  let range = await test.plane.checkAudit({ from: null });
  const faults = [...range.faults];
  while (!range.done) {
    range = await test.plane.checkAudit({ from: { position: range.position, hash: range.hash } });
    faults.push(...range.faults);
  }
  return { ...range, faults };
}

/** Creates a tenant with this number of chained events. */
async function withEvents(makePlane: () => TestPlane, n: number): Promise<TestPlane> {
  const test = makePlane();
  for (let i = 0; i < n; i++) await test.plane.createContract(aContract());
  await test.plane.chainAudit({});
  return test;
}

describe('the audit chain of contract data', () => {
  forEachPlane((name, makePlane) => {
    it('appends pending events in order, each hashed with the one before it', async () => {
      const test = await withEvents(makePlane, 3);
      const events = await chained(test);
      // The first contract also creates the tenant's lifecycle.
      expect(events.map(({ position }) => position)).to.deep.equal([1, 2, 3, 4]);
      expect(new Set(events.map(({ hash }) => hash)).size).to.equal(4);
      expect(await check(test))
        .to.include({ done: true, position: 4, waiting: 0, hash: events.at(-1)?.['hash'] })
        .and.to.deep.include({ faults: [] });
    });

    it('can be computed by others from its documented format', async () => {
      const test = await withEvents(makePlane, 1);
      const { rows: exported } = await test.plane.exportAudit({ afterId: '00000000-0000-0000-0000-000000000000' });
      let hash = sha256Hex(`duebook audit chain v1 ${test.call.tenantId}`);
      expect(exported).to.have.length(2);
      for (const {
        position,
        tenantId,
        id,
        at,
        actorKind,
        actorId,
        actorName,
        ip,
        requestId,
        action,
        recordKind,
        recordId,
        changes,
        hash: kept,
      } of exported.toSorted((a, b) => Number(a.position) - Number(b.position))) {
        hash = sha256Hex(
          JSON.stringify([
            'v1',
            hash,
            position,
            tenantId,
            id,
            at,
            actorKind,
            actorId,
            actorName,
            ip,
            requestId,
            action,
            recordKind,
            recordId,
            changes,
          ]),
        );
        expect(kept).to.equal(hash);
      }
    });

    it('reads many short events at once, and long ones each by itself', async () => {
      const test = makePlane();
      const { database, call } = test;
      for (let n = 0; n < 39; n++) await test.plane.createContract(aContract());
      const long = [5, 6, 20];
      for (const n of long)
        await write(
          test,
          `UPDATE audit_log SET changes = ? WHERE id IN (SELECT id FROM audit_log WHERE tenant_id = ? ORDER BY id LIMIT 1 OFFSET ${n})`,
          [JSON.stringify('x'.repeat(70_000)), call.tenantId],
        );
      const read: number[] = [];
      await database.write(call, async (tx) => {
        const all: typeof tx.all = async (sql, values) => {
          const found = await tx.all(sql, values);
          if (sql.includes('actor_kind')) read.push(found.length);
          return found;
        };
        const watched = withMethods(tx, { all });
        const trail = new AuditTrail(watched, parseKeyRing(generateKeyRingText()), tenantTrail(call, tx.dialect));
        expect(await trail.chain()).to.deep.equal({ chained: 40, more: false });
        expect(read).to.deep.equal([5, 1, 1, 13, 1, 19]);
        expect(await trail.check()).to.deep.include({ position: 40, faults: [], done: true });
      });
      const ids = (await chained(test)).map(({ id }) => id);
      expect(ids).to.deep.equal([...ids].toSorted((a, b) => (String(a) < String(b) ? -1 : 1)));
    });

    it('continues where it ended, and leaves chained events unchanged', async () => {
      const test = await withEvents(makePlane, 1);
      const before = await chained(test);
      expect(await test.plane.chainAudit({})).to.deep.equal({ chained: 0, more: false });
      await test.plane.createContract(aContract());
      expect((await check(test)).waiting).to.equal(1);
      expect(await test.plane.chainAudit({})).to.deep.equal({ chained: 1, more: false });
      expect((await chained(test)).slice(0, before.length)).to.deep.equal(before);
      expect((await check(test)).faults).to.deep.equal([]);
    });

    it('processes a long tail in batches', async () => {
      const test = makePlane();
      await test.database.write(test.call, async (tx) => {
        for (let i = 0; i < 450; i++)
          await tx.run(
            "INSERT INTO audit_log (tenant_id, id, at, actor_kind, actor_id, actor_name, ip, request_id, action, record_kind, record_id, changes) VALUES (?, ?, 1, 'user', NULL, 'x', NULL, 'r', 'a', 'contract', ?, '[]')",
            [test.call.tenantId, newId(), newId()],
          );
      });
      const batches = [];
      for (let more = true; more;) {
        const batch = await test.plane.chainAudit({});
        batches.push(batch.chained);
        ({ more } = batch);
      }
      expect(batches).to.deep.equal([200, 200, 50]);
      expect(await check(test)).to.deep.include({ position: 450, faults: [], done: true });
    });

    it('is not a change of contract data: it is not audited, and invalidates no cache', async () => {
      const test = makePlane();
      await test.plane.createContract(aContract());
      const versions = () => rows(test, 'SELECT sum(version) AS version FROM data_versions WHERE tenant_id = ?');
      const [count, version] = [
        await rows(test, 'SELECT count(*) AS n FROM audit_log WHERE tenant_id = ?'),
        await versions(),
      ];
      await test.plane.chainAudit({});
      expect([
        await rows(test, 'SELECT count(*) AS n FROM audit_log WHERE tenant_id = ?'),
        await versions(),
      ]).to.deep.equal([count, version]);
    });

    if (name !== 'remote') {
      it('stays one chain under concurrent chaining and writes', async () => {
        const test = makePlane();
        await test.plane.createContract(aContract());
        await Promise.all([
          ...Array.from({ length: 10 }, () => test.plane.createContract(aContract())),
          ...Array.from({ length: 6 }, () => test.plane.chainAudit({})),
        ]);
        await test.plane.chainAudit({});
        expect((await chained(test)).map(({ position }) => position)).to.deep.equal(
          Array.from({ length: 12 }, (_, i) => i + 1),
        );
        expect(await check(test)).to.deep.include({ faults: [], waiting: 0 });
      });

      it('is independent of those of other tenants', async () => {
        const [ours, theirs] = [await withEvents(makePlane, 2), await withEvents(makePlane, 1)];
        expect((await check(ours)).position).to.equal(3);
        expect((await check(theirs)).position).to.equal(2);
        expect(beginningOf(ours.call.tenantId)).not.to.deep.equal(beginningOf(theirs.call.tenantId));
      });
    }
  });
});

describe('the verification of a chain that was tampered with', () => {
  forEachPlane(
    (_name, makePlane) => {
      const eventAt = async (test: TestPlane, position: number) =>
        String((await chained(test)).find((event) => event['position'] === position)?.['id']);
      const found = async (test: TestPlane) => (await check(test)).faults;

      for (const [field, sql] of [
        ['the actor', "actor_name = 'Somebody Else'"],
        ['when', 'at = at + 1'],
        ['what', "action = 'getContract'"],
        ['the address', 'ip = NULL'],
        ['the fields', "changes = '[]'"],
        ['the record', `record_id = '${newId()}'`],
      ]) {
        it(`names the event whose field was changed: ${field}`, async () => {
          const test = await withEvents(makePlane, 3);
          const id = await eventAt(test, 3);
          await write(test, `UPDATE audit_log SET ${sql} WHERE tenant_id = ? AND id = ?`, [test.call.tenantId, id]);
          expect(await found(test)).to.deep.equal([{ kind: 'changed', position: 3, eventId: id, count: 1 }]);
        });
      }

      it('names the gap left by a deleted event', async () => {
        const test = await withEvents(makePlane, 4);
        const [id, next] = [await eventAt(test, 2), await eventAt(test, 3)];
        await write(test, 'DELETE FROM audit_log WHERE tenant_id = ? AND id = ?', [test.call.tenantId, id]);
        expect(await found(test)).to.deep.equal([{ kind: 'removed', position: 2, eventId: next, count: 1 }]);
      });

      it('names the event whose position was taken by the next', async () => {
        const test = await withEvents(makePlane, 3);
        const [id, next] = [await eventAt(test, 2), await eventAt(test, 3)];
        await write(test, 'DELETE FROM audit_log WHERE tenant_id = ? AND id = ?', [test.call.tenantId, id]);
        await write(test, 'UPDATE audit_log SET position = 2 WHERE tenant_id = ? AND id = ?', [
          test.call.tenantId,
          next,
        ]);
        const faults = await found(test);
        expect(faults[0]).to.deep.equal({ kind: 'changed', position: 2, eventId: next, count: 1 });
      });

      it('detects a truncated tail', async () => {
        const test = await withEvents(makePlane, 3);
        await write(test, 'DELETE FROM audit_log WHERE tenant_id = ? AND position > 2', [test.call.tenantId]);
        expect(await found(test)).to.deep.equal([{ kind: 'cut', position: 3, eventId: null, count: 2 }]);
      });

      it('detects a truncated tail whose head was moved back', async () => {
        const test = await withEvents(makePlane, 3);
        await write(test, 'DELETE FROM audit_log WHERE tenant_id = ? AND position > 2', [test.call.tenantId]);
        const last = (await chained(test)).at(-1);
        await write(test, 'UPDATE audit_heads SET position = 2, hash = ? WHERE tenant_id = ?', [
          String(last?.['hash']),
          test.call.tenantId,
        ]);
        expect((await found(test)).map(({ kind }) => kind)).to.deep.equal(['head_altered']);
        // Further chaining does not hide it.
        await test.plane.createContract(aContract());
        await test.plane.chainAudit({});
        expect((await found(test)).map(({ kind }) => kind)).to.deep.equal(['head_altered']);
      });

      it('detects a chain that was recomputed from a changed event', async () => {
        const test = await withEvents(makePlane, 2);
        await write(test, "UPDATE audit_log SET actor_name = 'Somebody Else' WHERE tenant_id = ? AND position = 2", [
          test.call.tenantId,
        ]);
        const { rows: exported } = await test.plane.exportAudit({ afterId: '00000000-0000-0000-0000-000000000000' });
        let link = beginningOf(test.call.tenantId);
        for (const event of exported.toSorted((a, b) => Number(a.position) - Number(b.position))) {
          link = linkAfter(link, event);
          await write(test, 'UPDATE audit_log SET hash = ? WHERE tenant_id = ? AND id = ?', [
            link.hash,
            test.call.tenantId,
            event.id,
          ]);
        }
        await write(test, 'UPDATE audit_heads SET hash = ? WHERE tenant_id = ?', [link.hash, test.call.tenantId]);
        expect((await found(test)).map(({ kind }) => kind)).to.deep.equal(['head_altered']);
      });

      it("detects a deleted head, and one replaced by another tenant's", async () => {
        const [test, other] = [await withEvents(makePlane, 1), await withEvents(makePlane, 1)];
        const seal = (await rows(other, 'SELECT seal FROM audit_heads WHERE tenant_id = ?'))[0]?.['seal'] ?? null;
        await write(test, 'UPDATE audit_heads SET seal = ? WHERE tenant_id = ?', [seal, test.call.tenantId]);
        expect((await found(test)).map(({ kind }) => kind)).to.deep.equal(['head_altered']);
        await write(test, 'DELETE FROM audit_heads WHERE tenant_id = ?', [test.call.tenantId]);
        expect((await found(test)).map(({ kind }) => kind)).to.deep.equal(['head_altered']);
      });

      it('does not report a chain whose key is temporarily missing, but waits', async () => {
        const test = await withEvents(makePlane, 1);
        const withoutKey = createLocalDataPlane({
          operations: OPERATIONS,
          database: test.database,
          clock: test.clock,
          keyRing: parseKeyRing(generateKeyRingText()),
        });
        await test.plane.createContract(aContract());
        expect(
          await withoutKey.invoke('chainAudit', { call: test.call }, {}).catch((error: unknown) => error),
        ).to.have.property('code', 'SEAL_KEY_UNKNOWN');
        await test.plane.chainAudit({});
        expect(await found(test)).to.deep.equal([]);
      });

      it('detects an event that was moved back to the pending ones', async () => {
        const test = await withEvents(makePlane, 3);
        const [id, next] = [await eventAt(test, 2), await eventAt(test, 3)];
        await write(
          test,
          "UPDATE audit_log SET position = NULL, hash = NULL, action = 'getContract' WHERE tenant_id = ? AND id = ?",
          [test.call.tenantId, id],
        );
        await test.plane.chainAudit({});
        expect(await found(test)).to.deep.equal([{ kind: 'removed', position: 2, eventId: next, count: 1 }]);
      });
    },
    { only: ['sqlite', 'postgres'] },
  );
});

describe('the list of audit events of contract data', () => {
  forEachPlane((_name, makePlane) => {
    it('reports who changed which field of which record, newest first', async () => {
      const test = makePlane();
      const contract = await test.plane.createContract(aContract({ payments: [aLine()] }));
      await test.plane.updateContract({ contractId: contract.id, changes: { projectName: 'Renamed' } });
      const found = await test.plane.listAudit({ recordId: contract.id });
      expect(found).to.include({ page: 1, pageSize: 20, total: 2, pageCount: 1 });
      const [latest] = found.items;
      expect(latest).to.include({
        action: 'updateContract',
        actorKind: 'user',
        actorId: test.call.actor.id,
        actorName: 'Ming Li',
        recordKind: 'contract',
        recordId: contract.id,
        position: null,
        hash: null,
        createdAt: new Date(test.clock.now()).toISOString(),
      });
      expect(latest?.changes).to.deep.include({
        recordKind: 'contract',
        recordId: contract.id,
        field: 'projectName',
        before: contract.projectName,
        after: 'Renamed',
      });
      expect(found.items[1]?.changes.map(({ recordKind }) => recordKind)).to.include('payment_line');
    });

    it('is filtered by actor, action and time, and paginated', async () => {
      const test = makePlane();
      const first = await test.plane.createContract(aContract());
      const otherActorId = newId();
      test.clock.advance(60_000);
      await test.as({ actor: { ...test.call.actor, id: otherActorId } }).deleteContract({ contractId: first.id });
      const totals = async (filter: Parameters<TestPlane['plane']['listAudit']>[0]) =>
        (await test.plane.listAudit(filter)).total;
      expect(await totals({})).to.equal(3);
      expect(await totals({ actorId: otherActorId })).to.equal(1);
      expect(await totals({ action: 'deleteContract' })).to.equal(1);
      expect(await totals({ from: test.clock.now() })).to.equal(1);
      expect(await totals({ before: test.clock.now() })).to.equal(2);
      expect((await test.plane.listAudit({ page: 2, pageSize: 2 })).items).to.have.length(1);
      expect((await test.plane.listAudit({ page: 3, pageSize: 2 })).items).to.deep.equal([]);
    });

    it('includes at most 200 fields of an event, and their total number', async () => {
      const test = makePlane();
      const { id } = await test.plane.createContract(
        aContract({ payments: Array.from({ length: 40 }, () => aLine()) }),
      );
      const [event] = (await test.plane.listAudit({ recordId: id })).items;
      expect(event?.changes).to.have.length(200);
      expect(event?.changeCount).to.be.greaterThan(200);
    });

    it('includes only contracts in scope, and other records only if every member may see them', async () => {
      const test = makePlane();
      const [mine, other] = [newId(), newId()];
      const visible = await test.plane.createContract(aContract({ subjectId: mine }));
      await test.plane.createContract(aContract({ subjectId: other }));
      const seen = async (changes: Parameters<TestPlane['as']>[0]) =>
        (await test.as(changes).listAudit({})).items.map(({ recordKind, recordId }) =>
          recordKind === 'contract' ? recordId : recordKind,
        );
      expect(await seen({ subjectScope: [mine] })).to.deep.equal([visible.id, 'lifecycle']);
      expect(await seen({ subjectScope: [] })).to.deep.equal(['lifecycle']);
      expect(await seen({ ownerScope: newId() })).to.deep.equal(['lifecycle']);
      expect(
        (await test.as({ subjectScope: [mine] }).exportAudit({ afterId: '00000000-0000-0000-0000-000000000000' })).rows,
      ).to.have.length(2);
    });
  });
});
