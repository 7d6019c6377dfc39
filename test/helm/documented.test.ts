import { expect } from 'chai';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isScalar, parse, parseDocument, type Pair, type YAMLMap } from 'yaml';
import { AGENT_SETTINGS } from '../../data-plane-agent/agent/config.js';
import type { Setting } from '../../data-plane-agent/base/config.js';
import { SETTINGS } from '../../server/config.js';
import { CHARTS, VALUES_FILES, type Chart } from '../support/helm.js';
import { filesBelow, read, root } from '../support/source.js';

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

const HEAD = '| value | default | meaning |';
const SETTINGS_OF: Readonly<Record<Chart, readonly Setting<unknown, unknown>[]>> = {
  duebook: Object.values(SETTINGS),
  'duebook-agent': Object.values(AGENT_SETTINGS),
};
/** Settings that the charts make of other values, which must not be set beside them. */
const MADE = new Set([
  'HOST', 'PORT', 'PUBLIC_URL', 'EDITION', 'DATA_DIR', 'PEER_URL', 'PLATFORM_DATABASE_URL', 'TENANT_DATABASE_URL',
  'OBJECT_STORE_URL', 'OBJECT_STORE_PUBLIC_URL', 'FILE_SCAN_MODE', 'CLAMAV_URL', 'TLS_CERT', 'POLICY_FILE',
  // Have passwords, and are used by commands only: from a secret, with extraEnv.
  'BACKUP_PLATFORM_DATABASE_URL', 'BACKUP_TENANT_DATABASE_URL',
]);
/** Described by Kubernetes, and validated by its API server: schemas of objects that are passed on as they are. */
const PASSED_ON = new Set(['ofKubernetes', 'global']);

for (const chart of CHARTS) {
  describe(`the chart ${chart}`, () => {
    const folder = `helm/${chart}`;
    const schema = JSON.parse(read(`${folder}/values.schema.json`)) as Schema;
    const values = parseDocument(read(`${folder}/values.yaml`));
    const rows = rowsOf(values.contents as YAMLMap);

    it('has a README with the meaning and the default of every value (UPDATE_DOCS=1 writes it)', () => {
      const table = [
        HEAD,
        '| --- | --- | --- |',
        ...rows.map((row) => `| \`${row.path}\` | \`${row.shown}\` | ${row.about} |`),
      ].join('\n');
      const page = read(`${folder}/README.md`);
      const at = page.indexOf(HEAD);
      const end = page.indexOf('\n\n', at);
      if (process.env['UPDATE_DOCS'] === '1')
        writeFileSync(join(root, folder, 'README.md'), `${page.slice(0, at)}${table}${end < 0 ? '\n' : page.slice(end)}`);
      expect(read(`${folder}/README.md`).includes(`${table}\n`), 'out of date: run this test with UPDATE_DOCS=1').to.equal(true);
    });

    it('describes every value', () => {
      expect(rows.length).to.be.greaterThan(40);
      expect(rows.filter(({ about }) => about === '').map(({ path }) => path)).to.deep.equal([]);
    });

    it('has a schema of exactly its values, which refuses all others', () => {
      const inSchema = leavesOf(schema, schema).toSorted();
      const given = rows.map(({ path }) => path);
      expect(inSchema.filter((path) => !given.includes(path))).to.deep.equal([]);
      expect(given.filter((path) => !inSchema.includes(path))).to.deep.equal([]);
      expect(openObjects(schema, '').toSorted()).to.deep.equal([]);
    });

    it('accepts every setting that is not secret and not made by other values, by its name (UPDATE_DOCS=1)', () => {
      const names = SETTINGS_OF[chart].filter(({ name, secret }) => secret !== true && !MADE.has(name));
      const expected = Object.fromEntries(
        names.map(({ name, about }) => [name, { $ref: '#/$defs/setting', description: about }]),
      );
      const settings = schema.properties?.['settings'];
      if (process.env['UPDATE_DOCS'] === '1' && settings) {
        Object.assign(settings, { properties: expected });
        writeFileSync(join(root, folder, 'values.schema.json'), `${JSON.stringify(schema, null, 2)}\n`);
      }
      expect(settings?.properties).to.deep.equal(expected);
    });

    it('has the version of the product', () => {
      const { version } = JSON.parse(read('package.json')) as { version: string };
      expect(parse(read(`${folder}/Chart.yaml`))).to.include({ version, appVersion: version });
    });

    it('ships the values files that are tested', () => {
      expect(filesBelow(join(root, folder, 'ci'))).to.deep.equal(
        VALUES_FILES.filter(([of]) => of === chart)
          .map(([, file]) => `${folder}/ci/${file}.yaml`)
          .toSorted(),
      );
    });
  });
}

interface Row {
  readonly path: string;
  readonly shown: string;
  readonly about: string;
}

/** A row for each value, with the comment above it. */
function rowsOf(map: YAMLMap, path = ''): Row[] {
  return map.items.flatMap((item, index) => {
    const { key, value } = item as Pair<{ value: string; commentBefore?: string | null }, unknown>;
    const name = `${path}${key.value}`;
    // The comment above the first value of a map is the map's, and above the first of the file it is the file's.
    const comment = (index === 0 && path !== '' ? map.commentBefore : key.commentBefore) ?? '';
    const about = comment.split('\n\n').at(-1)?.replaceAll(/\s*\n\s*/g, ' ').trim().replaceAll('|', '\\|') ?? '';
    if (isMap(value) && value.items.length > 0 && !name.endsWith('resources')) return rowsOf(value, `${name}.`);
    const shown = isScalar(value) ? JSON.stringify(value.value) : JSON.stringify((value as YAMLMap).toJSON());
    return [{ path: name, shown, about }];
  });
}

const resolved = (one: Schema, whole: Schema): Schema =>
  one.$ref === undefined ? one : (whole.$defs?.[one.$ref.split('/').at(-1) ?? ''] ?? {});

/** The paths of the values that a schema names. */
function leavesOf(one: Schema, whole: Schema, path = ''): string[] {
  return Object.entries(resolved(one, whole).properties ?? {}).flatMap(([name, inner]) => {
    const full = path === '' ? name : `${path}.${name}`;
    if (PASSED_ON.has(name)) return [];
    const deeper = ['settings', 'resources'].includes(name) ? [] : leavesOf(inner, whole, full);
    return deeper.length > 0 ? deeper : [full];
  });
}

/** The objects of a schema that accept names which it does not know, other than those that Kubernetes describes. */
function openObjects(one: Schema, path: string): string[] {
  const inner = [
    ...Object.entries(one.properties ?? {}),
    ...Object.entries(one.$defs ?? {}),
    ...(one.items ? [['items', one.items] as const] : []),
  ].flatMap(([name, schema]) => (PASSED_ON.has(name) ? [] : openObjects(schema, `${path}/${name}`)));
  const isOpen = one.type === 'object' && one.additionalProperties !== false && typeof one.additionalProperties !== 'object';
  return isOpen ? [path, ...inner] : inner;
}
