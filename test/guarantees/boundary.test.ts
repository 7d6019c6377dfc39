import { expect } from 'chai';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import * as messages from '../../data-plane-agent/base/link/messages.js';
import { TOPICS } from '../../data-plane-agent/base/link/messages.js';
import { TOKEN_TYPES } from '../../data-plane-agent/base/link/tokens.js';
import { s } from '../../data-plane-agent/base/schema.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import { HEAD_MESSAGE } from '../../server/audit/head-message.js';
import { SETTINGS } from '../../server/config.js';
import { migrateTo } from '../support/migrated.js';
import { root } from '../support/source.js';
import { boundary, LINK_SCHEMAS, type Fields, type Register } from './boundary.js';
import { fieldsOf } from './boundary-fields.js';

const FILE = join(root, 'docs', 'data-boundary.json');
const PAGE = join(root, 'docs', 'data-boundary.md');

/** `UPDATE_DOCS=1` regenerates docs/data-boundary.json; review the diff afterwards. */
describe('the register of what crosses between an agent and the control plane', () => {
  let register: Register;
  let unused: readonly { readonly at: string; readonly field: RegExp }[];
  before(async () => {
    ({ register, unused } = await boundary());
  });

  it('is up to date with the schemas of operations and messages', async () => {
    const text = await format(JSON.stringify(register, null, 2), { ...(await resolveConfig(FILE)), parser: 'json' });
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, text);
    expect(readFileSync(FILE, 'utf8') === text).to.equal(
      true,
      'docs/data-boundary.json is out of date: run this test with UPDATE_DOCS=1 and review what has changed',
    );
  });

  it('has every operation, and each field of its input and output exactly once', () => {
    const present = JSON.parse(readFileSync(FILE, 'utf8')) as Register;
    expect(Object.keys(present.operations)).to.deep.equal(Object.keys(OPERATIONS).toSorted());
    for (const [name, { input, output }] of Object.entries(OPERATIONS)) {
      const listed = present.operations[name];
      expect(listed && fieldsIn(listed.input), `${name}.input`).to.deep.equal(fieldsOf(input).toSorted());
      expect(listed && fieldsIn(listed.output), `${name}.output`).to.deep.equal(fieldsOf(output).toSorted());
    }
  });

  it('has every message, notice and token of the link', () => {
    // Parts of other messages.
    const parts = ['Component'];
    const schemas = Object.keys(messages).filter((name) => !['LINK_PATHS', 'TOPICS', ...parts].includes(name));
    expect(Object.values(LINK_SCHEMAS).map(([, schema]) => schema)).to.have.members(schemas);
    for (const topic of Object.keys(TOPICS)) expect(register.link).to.have.property(`notice ${topic}`);
    // Replicas of the control plane forward to each other: that token does not reach an agent.
    const known = { join: 'join', connect: 'connection', rotate: 'rotation', request: 'request', reply: 'reply' };
    expect(Object.keys(TOKEN_TYPES)).to.have.members([...Object.keys(known), 'forward']);
    for (const name of Object.values(known)) expect(register.link).to.have.property(`token of a ${name}`);
  });

  it('names only columns of the platform database, lines of the log and settings that exist', async () => {
    const columns = await platformColumns();
    const exists = (place: string): boolean =>
      place === `log:${HEAD_MESSAGE}` ||
      columns.has(place) ||
      Object.values(SETTINGS).some(({ name }) => place === `setting:${name}`);
    const named = [
      ...everyFields(register).flatMap(({ stored, ownRecords }) => [
        ...Object.values(stored).flat(),
        ...Object.values(ownRecords).flat(),
      ]),
      ...Object.keys(register.columns),
    ];
    expect(named.length).to.be.greaterThan(100);
    expect([...new Set(named)].filter((place) => !exists(place))).to.deep.equal([]);
  });

  it('has no rule that applies to no field', () => {
    expect(unused.map(({ at, field }) => `${at} ${field.source}`)).to.deep.equal([]);
  });

  it('is explained by a page that names every column which stores something from an agent', () => {
    const page = readFileSync(PAGE, 'utf8');
    const places = new Set(everyFields(register).flatMap(({ stored }) => Object.values(stored).flat()));
    expect([...places].filter((place) => !page.includes(`\`${place.replace(/^log:/, '')}\``))).to.deep.equal([]);
  });

  it('finds the fields of lists, maps, alternatives and nullable objects', () => {
    const inner = s.object({ a: s.id(), b: s.nullable(s.object({ c: s.flag() })) });
    const schema = s.object({
      list: s.list(inner, 3),
      none: s.nullable(s.list(s.id(), 3)),
      map: s.map(s.flag(), 3),
      either: s.either([s.object({ x: s.id() }), s.object({ y: s.id() })]),
      free: s.free(),
      scalar: s.scalar({ maxLength: 3, maxItems: 3 }),
    });
    expect(fieldsOf(schema)).to.deep.equal([
      'list[].a',
      'list[].b.c',
      'none[]',
      'map{}',
      'either.x',
      'either.y',
      'free',
      'scalar',
    ]);
  });
});

const fieldsIn = ({ passesThrough, ownRecords, stored }: Fields): string[] =>
  [...passesThrough, ...Object.keys(ownRecords), ...Object.keys(stored)].toSorted();

const everyFields = ({ link, everyRequest, everyReply, operations }: Register): Fields[] => [
  ...Object.values(link),
  everyRequest,
  everyReply,
  ...Object.values(operations).flatMap(({ input, output }) => [input, output]),
];

async function platformColumns(): Promise<ReadonlySet<string>> {
  const folder = await mkdtemp(join(tmpdir(), 'duebook-boundary-'));
  const url = `sqlite:${join(folder, 'platform.db')}`;
  try {
    await migrateTo('platform', url);
    const database = await openDatabase(url, { poolMax: 1 });
    try {
      const rows = await database.read({ tenantId: null }, (tx) =>
        tx.all(
          "SELECT m.name || '.' || c.name AS place FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'",
        ),
      );
      return new Set(rows.map(({ place }) => String(place)));
    } finally {
      await database.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
