import { expect } from 'chai';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identityFiles } from '../../data-plane-agent/agent/identity-files.js';
import { storeJoined } from '../../data-plane-agent/agent/identity.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { newLinkKey } from '../../data-plane-agent/base/link/keys.js';
import type { FileRecord } from '../../data-plane-agent/plane/contract/records/files.js';
import { administration, type Administration } from '../support/administration.js';
import { EICAR, needsClamd, startClamd, type TestClamd } from '../support/clamd.js';
import type { DomainError } from '../support/http.js';
import { startHybrid } from '../support/hybrid.js';
import { joinWith, until } from '../support/joined-agent.js';
import { migratedFile } from '../support/migrated.js';
import type { Running } from '../support/process.js';
import { letDie, startQuickAgent } from '../support/quick-agent.js';
import type { TestServer } from '../support/server.js';
import { uploadsOf } from '../support/uploads.js';

/** More than a scan holds a file for. */
const AHEAD_MS = 11 * 60_000;
/** More than the scan of files that wait has steps. */
const MOST_STEPS = 40;
const INFECTED = 4;

describe('an agent that is killed during the scan of files', function () {
  needsClamd();
  this.timeout(600_000); // two idle cores need a tenth of it
  let server: TestServer;
  let org: Administration;
  let clamd: TestClamd;
  let dataDir: string;
  let agent: Running | undefined;
  let aheadMs = 0;
  const clock = { now: () => Date.now() + aheadMs };

  before(async () => {
    clamd = await startClamd();
    server = await startHybrid({ clock, env: { JWT_ACCESS_TTL: '24h' } });
    org = await administration(server);
    dataDir = await mkdtemp(join(tmpdir(), 'duebook-agent-'));
    await writeFile(join(dataDir, 'tenant.db'), await migratedFile('tenant'), { mode: 0o600 });
    const key = await newLinkKey();
    const instanceId = newId();
    const joining = { server, tenantId: org.tenant.id, key, instanceId, clock };
    storeJoined(identityFiles(dataDir), {
      joined: await joinWith({ ...joining, accessMode: 'outbound' }),
      instanceId,
      key,
    });
  });
  after(async () => {
    await agent?.kill();
    await server?.stop();
    await clamd?.stop();
    if (dataDir) await rm(dataDir, { recursive: true, force: true });
  });

  const start = async (env: Readonly<Record<string, string>>): Promise<Running> => {
    const started = (agent = await startQuickAgent({ dataDir, aheadMs, env }));
    await until(async () => (await org.asOwner.get('/contracts')).status === 200, 'the agent answers', { ms: 60_000 });
    return started;
  };
  const scanning = () => start({ FILE_SCAN_MODE: 'clamav', CLAMAV_URL: clamd.url });
  const statusOf = async ({ id }: FileRecord) => (await org.asOwner.get<FileRecord>(`/files/${id}`)).body.scanStatus;

  it('before any step, all of them are scanned, and the infected ones are out of reach', async () => {
    const unscanned = await start({ FILE_SCAN_MODE: 'off' });
    const upload = (text: string) =>
      uploadsOf(org.asOwner).upload({ fileName: 'a.txt', contentType: 'text/plain', bytes: Buffer.from(text) });
    const infected: FileRecord[] = [];
    for (let count = 0; count < INFECTED; count += 1) infected.push(await upload(`${count} ${EICAR}`));
    const clean = await upload('nothing is wrong with this text');
    expect(clean.scanStatus).to.equal('skipped');
    await unscanned.kill();

    let deaths = 0;
    const areDone = async () => {
      const found = await Promise.all([...infected, clean].map(statusOf));
      return found.every((status) => status === 'infected' || status === 'clean');
    };
    let one = await scanning();
    for (let step = 1; step <= MOST_STEPS; step += 1) {
      letDie(dataDir, { operation: 'scanFiles', step });
      // The scanner may not have been tested yet: then nothing is scanned, and the job is run again.
      const victim = one;
      await until(
        async () => {
          if (!victim.running()) return true;
          process.kill(victim.pid, 'SIGUSR2');
          await sleep(100);
          return !victim.running() || areDone();
        },
        `the agent dies before step ${step}, or all files are scanned`,
        { ms: 60_000 },
      );
      letDie(dataDir, undefined);
      if (victim.running()) break;
      deaths += 1;
      aheadMs += AHEAD_MS;
      one = await scanning();
    }
    // Those of one file: find, make due, find, claim, look, read, record, copy, record, remove.
    expect(deaths).to.be.at.least(10);
    await until(
      async () => {
        process.kill(one.pid, 'SIGUSR2');
        await sleep(100);
        return areDone();
      },
      'all are scanned',
      { ms: 60_000 },
    );
    expect(await statusOf(clean)).to.equal('clean');
    for (const file of infected) {
      expect(await statusOf(file)).to.equal('infected');
      const refused = await org.asOwner.get<DomainError>(`/files/${file.id}/download`);
      expect([refused.status, refused.body.error.code]).to.deep.equal([403, 'FILE_INFECTED']);
    }
    // One was found infected just before a death; the sweep moves it.
    aheadMs += 2 * 60 * 60_000;
    await one.kill();
    one = await scanning();
    await until(
      async () => {
        process.kill(one.pid, 'SIGUSR2');
        await sleep(100);
        const kept = await readdir(join(dataDir, 'files', 'quarantine', org.tenant.id)).catch((): string[] => []);
        return infected.every(({ id }) => kept.includes(id));
      },
      'all infected files are in the quarantine',
      { ms: 60_000 },
    );
  });
});
