import { dataDirCheck, diskCheck } from '../../data-plane-agent/base/command-line/disk.js';
import { openDatabase, sqlitePath } from '../../data-plane-agent/base/database/open.js';
import { nodeFault } from '../../data-plane-agent/base/node-version.js';
import { objectStoreChecks } from '../../data-plane-agent/host/doctor/object-store.js';
import { scannerCheck } from '../../data-plane-agent/host/doctor/scanner.js';
import { databasesOf } from '../../server/databases.js';
import { urlSetting } from '../../server/database-check.js';
import type { Cli } from '../cli.js';
import { check, reasonOf, type Check } from '../doctor/check.js';
import { configurationCheck } from '../doctor/configuration.js';
import { databaseChecks } from '../doctor/databases.js';
import { keysCheck } from '../doctor/keys.js';
import { mailCheck } from '../doctor/mail.js';
import { portCheck } from '../doctor/port.js';
import { publicUrlCheck } from '../doctor/public-url.js';
import type { LookedAt } from '../installation.js';
import { QUESTIONS, type Target } from './questions.js';

/** What may be reachable only from where the server will run. */
export const UNREACHABLE = ['database', 'object-store', 'scanner', 'mail'] as const;
export type Unreachable = (typeof UNREACHABLE)[number];

/**
 * Uses everything that the server will use, from here: nothing is left behind. What Compose brings itself is not there
 * yet, and pods have the port and the disk of their node.
 */
export async function preflight(
  {
    looked,
    target,
    unreachable,
  }: { readonly looked: LookedAt; readonly target: Target; readonly unreachable: readonly string[] },
  cli: Cli,
): Promise<Check[]> {
  const { values } = looked;
  const here = target === 'local' || target === 'systemd';
  const outside = target !== 'compose';
  const keepsContracts = values.edition !== 'enterprise_hybrid';
  const unless = async (what: Unreachable, look: () => Promise<readonly Check[]>): Promise<readonly Check[]> =>
    unreachable.includes(what) ? [notLooked(what)] : look();
  return [
    ...(here ? [nodeCheck(cli.nodeVersion)] : []),
    configurationCheck(looked, answersToChange(looked)),
    await publicUrlCheck(looked, { production: true }),
    ...(here || target === 'compose' ? [await portCheck(looked)] : []),
    // Of systemd, its StateDirectory is made at the start.
    ...(target === 'local' ? [dataDirCheck(values)] : []),
    ...(here ? [diskCheck(values)] : []),
    ...(outside ? await unless('database', () => databases(looked, cli)) : []),
    ...(outside && keepsContracts
      ? [
          ...(await unless('object-store', () => objectStoreChecks(values, { clock: cli.clock, program: 'server' }))),
          ...(await unless('scanner', async () => [await scannerCheck(values, cli)])),
        ]
      : []),
    ...(await unless('mail', async () => [await mailCheck(looked)])),
  ];
}

function answersToChange({ warnings }: Pick<LookedAt, 'warnings'>): string {
  const named = new Set(warnings.map(({ name }) => name));
  const keys = QUESTIONS.flatMap(({ key, setting }) => (setting !== undefined && named.has(setting) ? [key] : []));
  return keys.length > 0 ? `change the answer ${keys.join(', ')}` : 'see docs/configuration.md';
}

const notLooked = (what: Unreachable): Check =>
  check.warn(
    what.replace('-', '_'),
    'not examined, because it is not reachable from here (--unreachable)',
    'run "duebook doctor" where the server runs',
  );

const nodeCheck = (version: string): Check => {
  const fault = nodeFault(version);
  return fault === undefined ? check.ok('node', version) : check.fail('node', version, fault);
};

async function databases(looked: LookedAt, cli: Cli): Promise<Check[]> {
  const checks = await databaseChecks(looked, cli);
  for (const managed of Object.values(databasesOf(looked.values))) {
    const isUsable = !checks.some(({ name, status }) => name === `${managed.name}_database` && status === 'fail');
    if (isUsable && sqlitePath(managed.url) === undefined)
      checks.push(await rightsCheck(`${managed.name}_rights`, { url: managed.url, setting: urlSetting(managed.name) }));
  }
  // Of a database that another installation uses, whose keys are not these.
  return [...checks, await keysCheck(looked)];
}

/** The oldest PostgreSQL that its developers support: https://www.postgresql.org/support/versioning/ */
const OLDEST_POSTGRES = 14;

class RolledBack extends Error {}

/** Makes and fills a table in a transaction that is rolled back. */
async function rightsCheck(
  name: string,
  { url, setting }: { readonly url: string; readonly setting: string },
): Promise<Check> {
  let version = 0;
  try {
    const database = await openDatabase(url, { poolMax: 1 });
    try {
      await database.write({ tenantId: null }, async (tx) => {
        const row = await tx.get("SELECT current_setting('server_version_num') AS version");
        version = Math.floor(Number(row?.['version'] ?? 0) / 10_000);
        await tx.run('CREATE TABLE duebook_install_probe (id INT PRIMARY KEY, note TEXT)');
        await tx.run('ALTER TABLE duebook_install_probe ENABLE ROW LEVEL SECURITY');
        await tx.run("INSERT INTO duebook_install_probe (id, note) VALUES (1, 'probe')");
        throw new RolledBack();
      });
    } finally {
      await database.close();
    }
  } catch (error) {
    if (!(error instanceof RolledBack))
      return check.fail(
        name,
        `the role of ${setting} may not create tables (${causeOf(error)})`,
        'let it own the database: ALTER DATABASE … OWNER TO …; docs/configuration.md shows how it is made',
      );
  }
  return version >= OLDEST_POSTGRES
    ? check.ok(name, `PostgreSQL ${version}; tables can be created`)
    : check.fail(name, `PostgreSQL ${version} is too old`, `use PostgreSQL ${OLDEST_POSTGRES} or newer`);
}

const causeOf = (error: unknown): string =>
  error instanceof Error && error.cause instanceof Error ? error.cause.message : reasonOf(error);
