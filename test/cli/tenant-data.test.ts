import { expect } from 'chai';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { administration, type Administration } from '../support/administration.js';
import { installations, type Installation, type Outcome } from '../support/cli.js';
import { needsPostgres } from '../support/postgres.js';
import { startServer, type TestServer } from '../support/server.js';
import { answersOf, besides, bookOf, successorOf } from '../support/tenant-data.js';

for (const [from, to] of [
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
] as const) {
  describe(`all data of an organisation, exported from ${from} and imported on ${to}`, () => {
    needsPostgres();
    const install = installations(after);
    let source: TestServer;
    let target: TestServer;
    let org: Administration;
    let files: readonly string[];
    let installation: Installation;
    before(async () => {
      source = await startServer({ database: from });
      target = await startServer({ database: to });
      // Whether a schedule decides reminders before, between or after the comparisons would depend on the hour.
      for (const { schedules } of [source, target]) await schedules.stop();
      org = await administration(source);
      ({ files } = await bookOf(org));
      installation = await install();
    });
    after(async () => {
      await source?.stop();
      await target?.stop();
    });

    const path = (name: string): string => join(installation.folder, name);
    const run = (server: TestServer, ...args: string[]): Promise<Outcome> =>
      installation.inProcess(['tenants', ...args], { env: besides(server) });
    const exported = async (name: string): Promise<Outcome> =>
      run(source, 'export-data', '--tenant', org.tenant.slug, '--out', path(name), '--json');
    const imported = ({ tenant }: Administration, name: string, ...more: string[]): Promise<Outcome> =>
      run(target, 'import-data', '--tenant', tenant.slug, '--from', path(name), '--json', ...more);

    it('is the same afterwards: every record, every file, and what the API answers', async () => {
      const out = await exported('book');
      expect(out.code, out.stderr).to.equal(0);
      const answer = JSON.parse(out.stdout) as { records: Record<string, number>; files: number };
      expect(answer.records).to.include({ contracts: 13, files: 2, members: 2, subjectCompanies: 2, invoices: 1 });
      expect(answer.files).to.equal(2);
      expect(statSync(path('book')).mode & 0o777).to.equal(0o700);

      const there = await successorOf(target, org);
      const tried = await imported(there, 'book', '--dry-run');
      expect(tried.code, tried.stderr).to.equal(0);
      expect(JSON.parse(tried.stdout)).to.deep.include({ dryRun: true, members: { matched: 1, added: 1 } });
      expect((await there.asOwner.get<{ total: number }>('/contracts')).body.total).to.equal(0);

      const { code, stderr } = await imported(there, 'book');
      expect(code, stderr).to.equal(0);
      const ids = { [org.owner.id]: there.owner.id, [org.tenant.id]: there.tenant.id };
      const [sent, arrived] = [await answersOf(org.asOwner, { files, ids }), await answersOf(there.asOwner, { files })];
      expect(Object.keys(arrived).length).to.be.greaterThan(60);
      for (const asked of Object.keys(sent)) expect(arrived[asked], asked).to.deep.equal(sent[asked]);
      expect(arrived['/tenant-admin/subjects']).to.have.length(2);

      // A second export has the same lines, but for the id of the owner and what installations keep to themselves.
      const again = await run(target, 'export-data', '--tenant', there.tenant.slug, '--out', path('again'));
      expect(again.code, again.stderr).to.equal(0);
      for (const name of readdirSync(join(path('book'), 'records'))) {
        if (['organisation', 'members', 'channels', 'auditEvents'].includes(name.replace('.jsonl', ''))) continue;
        const lines = (folder: string): string[] =>
          readFileSync(join(path(folder), 'records', name), 'utf8')
            .replaceAll(org.owner.id, there.owner.id)
            .split('\n')
            .toSorted();
        expect(lines('again'), name).to.deep.equal(lines('book'));
      }
      const verified = await installation.inProcess(['audit', 'verify', '--tenant', there.tenant.slug], {
        env: besides(target),
      });
      expect(verified.code, verified.stderr).to.equal(0);
      const channels = await there.asOwner.get('/tenant-admin/notification-channels');
      expect(channels.text).to.contain('"enabled":false').and.not.to.contain('very-secret-token');
      expect((await there.audit()).map(({ action }) => action)).to.include('tenant_data_imported');
      expect((await org.audit()).map(({ action }) => action)).to.include('tenant_data_exported');

      const twice = await imported(there, 'book');
      expect([twice.code, twice.stderr]).to.satisfy(
        ([exit, text]: [number, string]) => exit === 1 && text.includes('TENANT_DATA_NOT_EMPTY'),
      );
    });

    it('has no secrets, amounts with their currency, and is read by other programs', async () => {
      await exported('plain');
      const all = readdirSync(join(path('plain'), 'records')).map((name) =>
        readFileSync(join(path('plain'), 'records', name), 'utf8'),
      );
      expect(all.join('')).not.to.match(/very-secret-token|argon2|password/);
      const contract = linesIn(path('plain'), 'contracts').find(({ contractNo }) => contractNo === 'TD-1');
      expect(contract).to.include({ currencyCode: 'JPY' });
      expect(contract?.['totalAmount']).to.match(/^\d+$/);
      expect(contract?.['createdAt']).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      const [channel] = linesIn(path('plain'), 'channels');
      expect(channel?.['leftOut']).to.include('url');
      for (const line of readFileSync(join(path('plain'), 'SHA256SUMS'), 'utf8')
        .trim()
        .split('\n')) {
        const [sha256, name = ''] = line.split('  ');
        const bytes = readFileSync(join(path('plain'), name));
        expect(createHash('sha256').update(bytes).digest('hex'), name).to.equal(sha256);
      }
    });

    it('is refused when it is damaged, and nothing is left', async () => {
      await exported('whole');
      const there = await successorOf(target, org);
      const contracts = join('records', 'contracts.jsonl');
      const damages: readonly (readonly [RegExp, (folder: string) => void])[] = [
        [
          /contracts\.jsonl, line 13: is cut off/,
          (at) => truncateSync(join(at, contracts), statSync(join(at, contracts)).size - 9),
        ],
        [/contracts\.jsonl has another hash/, (at) => changed(join(at, contracts), 'M-2', 'M-X')],
        [/contracts\.jsonl, line 1: is not JSON/, (at) => changed(join(at, contracts), '{', '[')],
        [
          /files\/\S+ has another hash/,
          (at) => changed(join(at, 'files', readdirSync(join(at, 'files'))[0] ?? ''), '%PDF', '%PDX'),
        ],
        [/files\/\S+ is missing/, (at) => rmSync(join(at, 'files', readdirSync(join(at, 'files'))[0] ?? ''))],
        [/files\/stranger is not in SHA256SUMS/, (at) => writeFileSync(join(at, 'files', 'stranger'), '')],
        [/goods is not a kind of record/, (at) => rewritten(at, 'manifest.json', '"kind": "notes"', '"kind": "goods"')],
        [/formatVersion is 2/, (at) => rewritten(at, 'manifest.json', '"formatVersion": 1', '"formatVersion": 2')],
        [/have other fields/, (at) => rewritten(at, 'manifest.json', /"schema": "\w/, '"schema": "0')],
        [
          /contracts\.jsonl, line 1: colour is not a field/,
          (at) => rewritten(at, contracts, '{"id"', '{"colour":1,"id"'),
        ],
        [
          /contracts\.jsonl, line 13: totalAmount is not an amount/,
          (at) => rewritten(at, contracts, /"totalAmount":"(\d+)"/, '"totalAmount":"$1.5"'),
        ],
        [/it is no export, or one that was interrupted/, (at) => rmSync(join(at, 'SHA256SUMS'))],
      ];
      for (const [says, damage] of damages) {
        cpSync(path('whole'), path('damaged'), { recursive: true });
        damage(path('damaged'));
        for (const outcome of [
          await imported(there, 'damaged'),
          await run(target, 'verify-data', path('damaged'), '--json'),
        ]) {
          expect(outcome.code, String(says)).to.equal(1);
          expect(outcome.stderr)
            .to.match(says)
            .and.to.match(/TENANT_DATA_(INVALID|DAMAGED|VERSION)/);
        }
        rmSync(path('damaged'), { recursive: true });
      }
      const none = await run(target, 'import-data', '--tenant', 'nobody', '--from', path('whole'), '--json');
      expect([none.code, none.stderr.includes('"NOT_FOUND"')]).to.deep.equal([1, true]);
      expect((await there.asOwner.post('/tenant-admin/subjects', { name: 'Usable' })).status).to.equal(201);
      const more = await imported(there, 'whole');
      expect(more.stderr).to.contain('TENANT_DATA_NOT_EMPTY').and.to.contain('subject companies');
    });

    it('is not imported where contracts are, and not exported into a folder with files', async () => {
      await exported('other');
      const there = await successorOf(target, org);
      const { status } = await there.asOwner.post('/saved-views/contracts', aView('Any'));
      expect(status).to.equal(201);
      const refused = await imported(there, 'other');
      expect(refused.stderr).to.contain('TENANT_DATA_NOT_EMPTY').and.to.contain('saved_views');
      expect((await there.asOwner.get<unknown[]>('/saved-views/contracts')).status).to.equal(200);
      mkdirSync(path('full'));
      writeFileSync(join(path('full'), 'mine'), 'x');
      const full = await exported('full');
      expect([full.code, full.stderr.includes('is not empty')]).to.deep.equal([1, true]);
      expect(readdirSync(path('full'))).to.deep.equal(['mine']);
      expect(existsSync(path('nowhere'))).to.equal(false);
    });
  });
}

const aView = (name: string) => ({
  name,
  mode: 'table',
  scope: 'personal',
  groupBy: 'none',
  sortKey: 'updatedAt',
  filters: {},
  visibleFields: ['contractNo'],
  cardFields: ['contractNo'],
});

const linesIn = (folder: string, kind: string): Record<string, unknown>[] =>
  readFileSync(join(folder, 'records', `${kind}.jsonl`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

function changed(file: string, was: string | RegExp, is: string): void {
  const before = readFileSync(file, 'latin1');
  const now = before.replace(was, is);
  expect(now, file).not.to.equal(before);
  writeFileSync(file, now, 'latin1');
}

/** The same with the hashes that fit, as someone would who changes an export on purpose. */
function rewritten(folder: string, name: string, was: string | RegExp, is: string): void {
  const hashOf = (file: string): string =>
    createHash('sha256')
      .update(readFileSync(join(folder, file)))
      .digest('hex');
  const replaced = (file: string, to: () => void): void => {
    const before = hashOf(file);
    to();
    const after = hashOf(file);
    for (const listing of ['manifest.json', 'SHA256SUMS'])
      if (readFileSync(join(folder, listing), 'utf8').includes(before)) {
        if (listing === 'manifest.json') replaced(listing, () => changed(join(folder, listing), before, after));
        else changed(join(folder, listing), before, after);
      }
  };
  replaced(name, () => changed(join(folder, name), was, is));
}
