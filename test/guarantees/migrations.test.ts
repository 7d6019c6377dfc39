import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { contractingIn, HARMLESS } from '../../data-plane-agent/base/database/expand-contract.js';
import { checksumOf, statementsOf, type Migration } from '../../data-plane-agent/base/database/migrator.js';
import { TENANT_MIGRATIONS } from '../../data-plane-agent/plane/store/migrations/index.js';
import { PLATFORM_MIGRATIONS } from '../../server/store/migrations/index.js';
import { importsOf, read, sourceFiles } from '../support/source.js';

/**
 * The released steps, with the checksum of their statements for both databases. Lines are added for new steps and never
 * changed: existing databases have applied the step and refuse to start if it changes.
 */
const LANDED: Readonly<Record<string, readonly (readonly [id: string, checksum: string])[]>> = {
  platform: [
    ['0001-platform', '14898705e7f26c0e2225d49d671260f22c32b9ab524d444f04c03ab98febfc0d'],
    ['0002-mfa', 'f67d076e642a4dbe41bb2a9d32e5f35f5b2f714c57036a687fdeb72a18d6f0f4'],
    ['0003-passkeys', '3c884d7d2e7361426200f2290deb2bfd0053368f70736195d83e59ba96cbf4ac'],
    ['0004-sso', 'fd94707a1be9c05c77aff16de1d34383394f3dfbb2d5f22fa06c1aeaec877e61'],
    ['0005-mail-invitations', 'ea65980c4d222aa7b4a11cd91405d104c3fd4d153fd4ac60ab25a967eaf8ca78'],
    ['0006-tenant-admin', '97595481fa959d03973286e0b2ac9bba5afe5c82743acd9a87bb40c3097d8b19'],
    ['0007-audit-chain', '5deef06702c41e46c718acdbb632a39ed44466c25da60a6befcf1c7fc1f82df6'],
    ['0008-ways-in', 'eb071537c382398abee4ccd498556a351c71a60d5e4d1cdb3a128d825bbf6824'],
    ['0009-sso-browser', '88016b1f0627f19c9264e813d8ce94bbd0dd2608e60ab7e3ab30dbf7e0bbf2bd'],
    ['0010-audit-repeats', 'f794a073d0799d5209e0058b8e5636e1084a3a1086a0eb0b8fe6f3dd13cf2972'],
    ['0011-channel-targets', 'f299b470afdf0a4f13ddeb7b81b45663b97c2c20e0b17bf79db595df958c4699'],
    ['0012-takeover', 'bf9fb326ed67b2487156cbe0797de381ada395468ff9d58ec25de495010dc95b'],
    ['0013-askers', 'a385754f666c7ac798c6914ebea0260fac849738f72cd082a3d0edae0781cd55'],
  ],
  tenant: [
    ['0001-contract-book', '4111d578b006282d5ccb99a69e2ec29f4b9058b37bb41b68c94b06e7ad2577c8'],
    ['0002-audit-chain', 'e51b79bee32ac4b2c2293f855a19b33e54f51302f45e868592c2249e3888b0f6'],
    ['0003-invoices-tasks', '388de9b4cbe5bb43b85693c94e372ecbb08faaaee3e05b69273c04b8450c3cc0'],
    ['0004-one-default-template', '0c21001d09dcbed2a9c84e1ad54089906d7070f1e4d5a8c11367a4df4fcb2c1d'],
    ['0005-rollups', 'b6372a86a08083381ee97028cebb9a8929882006397bd9069bc6f6aec6df28d2'],
    ['0006-dynamic-fields', '6fecfd8c03dbd3ca23fc29521e4f38cf4b25ac9da6180338e8c7a7d3c679ccd9'],
    ['0007-saved-views', '95dcd6e4616e19b7b8b9f6f38f7d7f34893beee8950db2ef7169df7bd0f7be1a'],
    ['0008-import-batches', '7fd28b9417b8fa55f6c32f6b8cbd13e8069e6d7fb767d6460a3aa46f99ee1a8b'],
    ['0009-extraction', '77bd53a4bcaadec4abd935650c10bef34066656b9dd0b2a6413c73bf0e79c59a'],
    ['0010-trash', 'a855afcb972fb4b46b8118954938fcb32020b53369cf070babcd95e97aa3f8a2'],
    ['0011-invoices-of-lines', '5d11792853ccff6fb9239143af94219e1346d3ff06b9ea3f1d32f0cbc015779c'],
    ['0012-files', 'b7ea19f9f99151e439a2cfd2e95f88ae6705379011e1230a6b86fd908197413e'],
    ['0013-search-folding', '2ffaa92476d20c187ac1fb6515842f0410d8b17a781e004418d6081026d37c75'],
    ['0014-closed-records', '40f58ea726a68a73220e58ad1dca6bc563488dae648d1e12997ab50de5e504cb'],
    ['0015-due-work', '975afebe7214fc673e35eda523c338b46516711b5369f60701225f7d5c325688'],
  ],
};
/**
 * The newest steps, which are in no release: they may still change. When released, they move to the list above with
 * their checksum.
 */
const COMING: Readonly<Record<string, readonly string[]>> = {
  platform: ['0014-channel-delivery', '0015-calendar', '0016-reminder-sweeps', '0017-links', '0018-data-moves'],
  tenant: [
    '0016-invoice-register',
    '0017-receipts-by-transfer',
    '0018-collections',
    '0019-deliveries',
    '0020-data-moves',
    '0021-rollup-changes',
    '0022-running-imports',
    '0023-waiting-figures',
    '0024-lines-by-state',
  ],
};
const LISTS: Readonly<Record<string, { readonly folder: string; readonly migrations: readonly Migration[] }>> = {
  platform: { folder: 'server/store/migrations/', migrations: PLATFORM_MIGRATIONS },
  tenant: { folder: 'data-plane-agent/plane/store/migrations/', migrations: TENANT_MIGRATIONS },
};

/** The checksum of a step; for steps that process rows in code, that of the whole file. */
const markOf = (migration: Migration, folder: string): string =>
  migration.fill
    ? createHash('sha256')
        .update(read(`${folder}${migration.id}.ts`))
        .digest('hex')
    : checksumOf(migration);

for (const [name, { folder, migrations }] of Object.entries(LISTS)) {
  describe(`the migrations of the ${name} database`, () => {
    const files = sourceFiles().filter((file) => file.startsWith(folder) && !file.endsWith('/index.ts'));

    it('are the released ones, unchanged and in order, followed by the unreleased ones', () => {
      const coming = COMING[name] ?? [];
      expect(
        migrations
          .filter(({ id }) => !coming.includes(id))
          .map((migration) => [migration.id, markOf(migration, folder)]),
      ).to.deep.equal(LANDED[name]);
      expect(migrations.slice(migrations.length - coming.length).map(({ id }) => id)).to.deep.equal(coming);
    });

    it('are numbered without gaps, one file each, named after the step', () => {
      expect(migrations.map(({ id }) => `${folder}${id}.ts`)).to.deep.equal(files);
      expect(migrations.map(({ id }) => Number(id.slice(0, 4)))).to.deep.equal(migrations.map((_, index) => index + 1));
    });

    it('import only types', () => {
      const found = files.flatMap((file) =>
        importsOf(file, read(file).replaceAll(/^import type .*$/gm, '')).map((target) => `${file} -> ${target}`),
      );
      expect(found).to.deep.equal([]);
    });

    it('only expand, so that the previous release can run beside the new schema (docs/upgrade.md)', () => {
      expect(
        migrations.flatMap((migration) => contractingIn(migration).map(({ why }) => `${migration.id}: ${why}`)),
      ).to.deep.equal([]);
    });

    it('use neither the clock nor random values, so that their statements are always the same', () => {
      expect(files.filter((file) => /\bDate\b|Math\.random|randomUUID|process\./.test(read(file)))).to.deep.equal([]);
      expect(migrations.map(checksumOf)).to.deep.equal(migrations.map(checksumOf));
    });
  });
}

describe('the rule that migrations only expand', () => {
  const changing = (...statements: string[]): Migration => ({ id: '9999-planted', statements: () => statements });
  const planted: readonly (readonly [statement: string, why: string | undefined])[] = [
    ['DROP TABLE invoices', 'it removes a table'],
    ['ALTER TABLE invoices DROP COLUMN note', 'it removes a column'],
    ['ALTER TABLE invoices RENAME COLUMN note TO remark', 'it renames a table or a column'],
    ['ALTER TABLE invoices RENAME TO bills', 'it renames a table or a column'],
    ['ALTER TABLE invoices ALTER COLUMN amount TYPE bigint', 'it changes the type of a column'],
    ['ALTER TABLE invoices ALTER COLUMN amount SET NOT NULL', 'it demands a value that was optional'],
    ['ALTER TABLE invoices ADD COLUMN kind TEXT NOT NULL', 'it adds a column that every insert must fill'],
    ['ALTER TABLE invoices ADD CONSTRAINT positive CHECK (amount > 0)', 'it adds a rule that present writes may break'],
    ['CREATE UNIQUE INDEX one ON invoices (number)', 'it forbids duplicates that present writes may make'],
    ["ALTER TABLE invoices ADD COLUMN kind TEXT NOT NULL DEFAULT 'sale'", undefined],
    ['ALTER TABLE invoices ADD COLUMN kind TEXT', undefined],
    ['ALTER TABLE invoices ALTER COLUMN amount DROP NOT NULL', undefined],
    ['CREATE INDEX some ON invoices (number)', undefined],
    ['CREATE TABLE notes (id TEXT NOT NULL)', undefined],
  ];
  for (const [statement, why] of planted)
    it(`${why === undefined ? 'accepts' : 'finds'} ${statement}`, () => {
      expect(contractingIn(changing(statement)).map((found) => found.why)).to.deep.equal(
        why === undefined ? [] : [why],
      );
    });

  it('accepts a rule of a table that the same migration creates', () => {
    expect(
      contractingIn(changing('CREATE TABLE notes (id TEXT)', 'CREATE UNIQUE INDEX one ON notes (id)')),
    ).to.deep.equal([]);
  });

  it('has no exception that no migration needs', () => {
    const words = new Set(
      [...PLATFORM_MIGRATIONS, ...TENANT_MIGRATIONS]
        .flatMap((migration) => [...statementsOf(migration, 'sqlite'), ...statementsOf(migration, 'postgres')])
        .flatMap((statement) => statement.split(/\W+/)),
    );
    expect(Object.keys(HARMLESS).filter((name) => !words.has(name))).to.deep.equal([]);
  });
});
