import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, Row } from '../../data-plane-agent/base/database/database.js';
import { sqlitePath } from '../../data-plane-agent/base/database/open.js';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import { TENANT_SEALED_COLUMNS } from '../../data-plane-agent/plane/store/sealed-columns.js';
import { createLinkKeys } from '../../server/data-planes/joining/link-keys.js';
import { resealEverything, sealStatus } from '../../server/secret-rotation.js';
import { PLATFORM_SEALED_COLUMNS } from '../../server/store/sealed-columns.js';
import { makeTenant, OPERATOR, PASSWORD, type MadeTenant } from '../support/accounts.js';
import { sharedOidc } from '../support/oidc.js';
import { needsPostgres } from '../support/postgres.js';
import { startServer, type TestServer } from '../support/server.js';
import { startMailServer, type MailServer } from '../support/smtp.js';
import { issueEverything, type Canaries } from './canaries.js';

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`secrets do not leak, on ${kind}`, function () {
    this.timeout(180_000);
    if (kind === 'postgres') needsPostgres();
    const [keys, laterKeys] = [generateKeyRingText(), generateKeyRingText()];
    const canaries: Canaries = new Map([
      ['key that seals', keys.split(':')[1] ?? ''],
      ['token of the metrics', 'metrics-canary-token-0001'],
    ]);
    let server: TestServer;
    let mail: MailServer;
    let org: MadeTenant;

    before(async () => {
      mail = await startMailServer();
      server = await startServer({
        database: kind,
        env: {
          SECRET_KEYS: keys,
          SMTP_URL: mail.url,
          MAIL_FROM: 'Duebook <book@duebook.test>',
          METRICS_TOKEN: 'metrics-canary-token-0001',
          LOG_LEVEL: 'trace',
          LOGIN_FAILURES_PER_IP: '0',
        },
      });
      canaries.set('client secret of a provider', (await sharedOidc()).settings().clientSecret);
      org = await makeTenant(server.services);
      await issueEverything({ server, mail, org, canaries });
      const { platform: database } = server.foundation;
      await createLinkKeys({ database, clock: systemClock, keyRing: server.config.keyRing }).signer();
      await server.schedules.run('audit-chain');
    });
    after(async () => {
      await server.stop();
      await mail.stop();
    });

    it('were issued, one of every kind, none empty', () => {
      expect([...canaries.keys()]).to.have.length.greaterThan(30);
      expect([...canaries].filter(([, secret]) => secret.length < 6)).to.deep.equal([]);
      expect(new Set(canaries.values()).size).to.equal(canaries.size);
    });

    it('are in no table', async () => {
      const cells = await everyCell(server, org);
      expect(cells.length).to.be.greaterThan(500);
      expect(
        cells.flatMap(({ place, text }) => found(canaries, text).map((what) => `${what} in ${place}`)),
      ).to.deep.equal([]);
    });

    it('are in no log line', () => {
      const text = JSON.stringify(server.logged);
      expect(server.logged.length).to.be.greaterThan(30);
      expect(found(canaries, text)).to.deep.equal([]);
    });

    if (kind === 'sqlite') {
      it('are nowhere in the database files, including deleted rows and the write-ahead log', () => {
        for (const url of [server.config.platformDatabaseUrl, server.config.tenantDatabaseUrl]) {
          for (const file of ['', '-wal'].map((ending) => `${sqlitePath(url) ?? ''}${ending}`)) {
            const bytes = readFileSync(file).toString('latin1');
            // Codes of digits only also occur by chance within numbers.
            expect(
              [...canaries]
                .filter(([, secret]) => !/^\d+$/.test(secret) && bytes.includes(secret))
                .map(([what]) => `${what} in ${file}`),
            ).to.deep.equal([]);
          }
        }
        const kept = readdirSync(server.config.dataDir, { recursive: true, withFileTypes: true }).filter((entry) =>
          entry.isFile(),
        );
        expect(kept.some(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(PASSWORD))).to.equal(
          false,
        );
        expect(existsSync(join(server.config.dataDir, 'secret-keys'))).to.equal(false);
      });
    }

    it('are encrypted only in columns known to "duebook keys"', async () => {
      const known = [
        ...PLATFORM_SEALED_COLUMNS.map((column) => ({ database: 'platform', ...column })),
        ...TENANT_SEALED_COLUMNS.map((column) => ({ database: 'tenant', ...column })),
      ].map(({ database, table, column }) => `${database}.${table}.${column}`);
      const sealed = new Set(
        (await everyCell(server, org)).filter(({ text }) => SEALED.test(text)).map(({ place }) => place),
      );
      expect([...sealed].filter((place) => !known.includes(place))).to.deep.equal([]);
      expect(
        known.filter((place) => !sealed.has(place)),
        'a column of which this test has seen no row',
      ).to.deep.equal([]);
    });

    it('can all be re-encrypted with another key', async () => {
      const databases = { platform: server.foundation.platform, tenant: server.foundation.tenant };
      const [old, both] = [parseKeyRing(keys), parseKeyRing(`${laterKeys},${keys}`)];
      await server.schedules.stop(); // otherwise it would continue to encrypt with the old key
      const done = await resealEverything(databases, {
        keyRing: both,
        clock: systemClock,
        actor: OPERATOR,
        onProgress: () => undefined,
      });
      expect(done.unreadable).to.equal(0);
      expect(done.resealed).to.be.greaterThan(8);
      expect((await sealStatus(databases)).filter(({ keyId }) => keyId === old.active)).to.deep.equal([]);
      expect((await everyCell(server, org)).filter(({ text }) => text.startsWith(`v1.${old.active}.`))).to.deep.equal(
        [],
      );
    });
  });
}

const SEALED = /^v1\.[A-Za-z0-9_-]{1,32}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]{40,}$/;

/** The secrets that the text contains, as they are or in another encoding. Six digits count only as a separate word. */
function found(canaries: Canaries, text: string): string[] {
  return [...canaries]
    .filter(([, secret]) =>
      /^\d+$/.test(secret)
        ? new RegExp(`(?<![\\w.-])${secret}(?![\\w.-])`).test(text)
        : writings(secret).some((written) => text.includes(written)),
    )
    .map(([what]) => what);
}

const writings = (secret: string): string[] => [
  secret,
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('base64url'),
  Buffer.from(secret).toString('hex'),
  encodeURIComponent(secret),
];

interface Cell {
  readonly place: string;
  readonly text: string;
}

async function everyCell({ foundation }: TestServer, { tenant }: MadeTenant): Promise<Cell[]> {
  if (!foundation.tenant) throw new Error('this edition keeps contract data');
  return [
    ...(await cellsOf('platform', foundation.platform, null)),
    ...(await cellsOf('tenant', foundation.tenant, tenant.id)),
  ];
}

async function cellsOf(name: string, database: Database, tenantId: string | null): Promise<Cell[]> {
  return database.read({ tenantId }, async (tx) => {
    const tables = await tx.all(
      tx.dialect === 'sqlite'
        ? "SELECT name FROM sqlite_master WHERE type = 'table'"
        : 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()',
    );
    const cells: Cell[] = [];
    for (const { name: table } of tables) {
      const rows = await tx.all(`SELECT * FROM ${String(table)}`);
      cells.push(
        ...rows.flatMap((row: Row) =>
          Object.entries(row).map(([column, value]) => ({
            place: `${name}.${String(table)}.${column}`,
            text: String(value),
          })),
        ),
      );
    }
    return cells;
  });
}
