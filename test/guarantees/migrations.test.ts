import { expect } from 'chai';
import { checksumOf, type Migration } from '../../data-plane-agent/base/database/migrator.js';
import { TENANT_MIGRATIONS } from '../../data-plane-agent/plane/store/migrations/index.js';
import { PLATFORM_MIGRATIONS } from '../../server/store/migrations/index.js';
import { importsOf, read, sourceFiles } from '../support/source.js';

/**
 * What has landed, with the checksum of its statements for both databases. A line is added with a new step and never changed: a
 * database somewhere has applied the step as it was, and refuses to start under another.
 */
const LANDED: Readonly<Record<string, readonly (readonly [id: string, checksum: string])[]>> = {
  platform: [['0001-platform', '14898705e7f26c0e2225d49d671260f22c32b9ab524d444f04c03ab98febfc0d']],
  tenant: [['0001-contract-book', 'e59aa6ccca65b3d11466c245d71f46d41b2c267056b057956601e4b44a884096']],
};
const LISTS: Readonly<Record<string, { readonly folder: string; readonly migrations: readonly Migration[] }>> = {
  platform: { folder: 'server/store/migrations/', migrations: PLATFORM_MIGRATIONS },
  tenant: { folder: 'data-plane-agent/plane/store/migrations/', migrations: TENANT_MIGRATIONS },
};

for (const [name, { folder, migrations }] of Object.entries(LISTS)) {
  describe(`the migrations of the ${name} database`, () => {
    const files = sourceFiles().filter((file) => file.startsWith(folder) && !file.endsWith('/index.ts'));

    it('are those that have landed, unchanged and in their order', () => {
      expect(migrations.map((migration) => [migration.id, checksumOf(migration)])).to.deep.equal(LANDED[name]);
    });

    it('are numbered without a gap, one file each, which has the name of its step', () => {
      expect(migrations.map(({ id }) => `${folder}${id}.ts`)).to.deep.equal(files);
      expect(migrations.map(({ id }) => Number(id.slice(0, 4)))).to.deep.equal(migrations.map((_, index) => index + 1));
    });

    it('import nothing but types', () => {
      const found = files.flatMap((file) => importsOf(file, read(file).replaceAll(/^import type .*$/gm, '')).map((target) => `${file} -> ${target}`));
      expect(found).to.deep.equal([]);
    });

    it('read neither the clock nor anything at random: they are the same statements each time', () => {
      expect(files.filter((file) => /\bDate\b|Math\.random|randomUUID|process\./.test(read(file)))).to.deep.equal([]);
      expect(migrations.map(checksumOf)).to.deep.equal(migrations.map(checksumOf));
    });
  });
}
