import { expect } from 'chai';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { migrate, type Migration } from '../../data-plane-agent/base/database/migrator.js';
import { countSeals, reseal, type SealedColumn } from '../../data-plane-agent/base/database/sealed-columns.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { generateKeyRingText, parseKeyRing, type KeyRing } from '../../data-plane-agent/base/secrets.js';
import { forEachDatabase } from '../support/database.js';

const TABLE: Migration = {
  id: '0001-secrets',
  statements: (t) => [`CREATE TABLE secrets (tenant_id ${t.id}, name ${t.text} NOT NULL, sealed ${t.text})`],
};
const COLUMN: SealedColumn = { table: 'secrets', column: 'sealed', place: ['tenant_id', 'name'] };

describe('sealed columns', () => {
  forEachDatabase((_kind, fresh) => {
    let database: Database;
    const [oldText, newText] = [generateKeyRingText(), generateKeyRingText()];
    const [old, both, alone] = [parseKeyRing(oldText), parseKeyRing(`${newText},${oldText}`), parseKeyRing(newText)];
    const all = () => ({ database, tenantId: null });
    const context = (tenantId: string | null, name: string) => `secrets.sealed.${tenantId ?? ''}.${name}`;

    before(async () => {
      ({ database } = await fresh());
      await migrate(database, [TABLE]);
    });
    beforeEach(() => database.write({ tenantId: null }, (tx) => tx.run('DELETE FROM secrets')));

    const put = (keyRing: KeyRing, tenantId: string | null, names: readonly string[]) =>
      database.write({ tenantId: null }, async (tx) => {
        for (const name of names)
          await tx.run('INSERT INTO secrets (tenant_id, name, sealed) VALUES (?, ?, ?)', [
            tenantId,
            name,
            keyRing.seal(`secret ${name}`, context(tenantId, name)),
          ]);
      });
    const opened = async (keyRing: KeyRing) => {
      const rows = await database.read({ tenantId: null }, (tx) =>
        tx.all('SELECT tenant_id, name, sealed FROM secrets ORDER BY name'),
      );
      return rows.map((row) =>
        keyRing.openText(
          String(row['sealed']),
          context(row['tenant_id'] === null ? null : String(row['tenant_id']), String(row['name'])),
        ),
      );
    };
    const names = (n: number, prefix = 's') =>
      Array.from({ length: n }, (_, i) => `${prefix}${String(i).padStart(4, '0')}`);

    it('are re-encrypted in batches, whatever their number, and can be decrypted with the new key only', async () => {
      await put(old, null, names(450));
      const reported: number[] = [];
      expect(await reseal(all(), COLUMN, { keyRing: both, onProgress: (rows) => reported.push(rows) })).to.deep.equal({
        resealed: 450,
        unreadable: 0,
      });
      expect(reported).to.deep.equal([200, 200, 50]);
      expect(await opened(alone)).to.deep.equal(names(450).map((name) => `secret ${name}`));
      expect(await reseal(all(), COLUMN, { keyRing: both })).to.deep.equal({ resealed: 0, unreadable: 0 });
    });

    it('are counted by key, and by tenant', async () => {
      const [one, other] = [newId(), newId()];
      await put(old, one, names(3));
      await put(both, one, names(2, 'n'));
      await put(old, other, names(4));
      await database.write({ tenantId: null }, (tx) =>
        tx.run("INSERT INTO secrets (tenant_id, name, sealed) VALUES (NULL, 'none', NULL)"),
      );
      const counted = async (tenantId: string | null) =>
        Object.fromEntries(
          (await countSeals({ database, tenantId }, [COLUMN])).map(({ keyId, rows }) => [keyId, rows]),
        );
      expect(await counted(null)).to.deep.equal({ [old.active]: 7, [both.active]: 2 });
      expect(await counted(one)).to.deep.equal({ [old.active]: 3, [both.active]: 2 });
      expect(await reseal({ database, tenantId: one }, COLUMN, { keyRing: both })).to.deep.equal({
        resealed: 3,
        unreadable: 0,
      });
      expect(await counted(other)).to.deep.equal({ [old.active]: 4 });
    });

    it('that no key can decrypt are left unchanged and do not block others', async () => {
      const lost = parseKeyRing(generateKeyRingText());
      await put(lost, null, names(250, 'a'));
      await put(old, null, names(3, 'b'));
      await database.write({ tenantId: null }, (tx) =>
        tx.run("INSERT INTO secrets (tenant_id, name, sealed) VALUES (NULL, 'c', 'no seal at all')"),
      );
      expect(await reseal(all(), COLUMN, { keyRing: both })).to.deep.equal({ resealed: 3, unreadable: 251 });
      expect(
        await database.read({ tenantId: null }, (tx) => tx.get("SELECT sealed FROM secrets WHERE name = 'c'")),
      ).to.deep.equal({ sealed: 'no seal at all' });
    });

    it('copied from one row to another cannot be decrypted there, and are not re-encrypted for it', async () => {
      await put(old, null, ['mine', 'theirs']);
      await database.write({ tenantId: null }, (tx) =>
        tx.run(
          "UPDATE secrets SET sealed = (SELECT t.sealed FROM secrets t WHERE t.name = 'theirs') WHERE name = 'mine'",
        ),
      );
      expect(await reseal(all(), COLUMN, { keyRing: both })).to.deep.equal({ resealed: 1, unreadable: 1 });
    });

    it('can be re-encrypted after an interruption', async () => {
      await put(old, null, names(300));
      const stop = reseal(all(), COLUMN, {
        keyRing: both,
        onProgress: () => {
          throw new Error('the power failed');
        },
      });
      expect(await stop.catch((error: unknown) => error)).to.be.instanceOf(Error);
      expect(await reseal(all(), COLUMN, { keyRing: both })).to.deep.equal({ resealed: 100, unreadable: 0 });
      expect(await opened(alone)).to.have.length(300);
    });
  });
});
