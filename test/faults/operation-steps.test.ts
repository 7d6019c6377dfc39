import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identityFiles } from '../../data-plane-agent/agent/identity-files.js';
import { storeJoined } from '../../data-plane-agent/agent/identity.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { newLinkKey } from '../../data-plane-agent/base/link/keys.js';
import { administration, type Administration } from '../support/administration.js';
import { startChaosProxy, type ChaosProxy } from '../support/chaos-proxy.js';
import { joinWith, startAgent, until, type TestAgent } from '../support/joined-agent.js';
import { migratedFile } from '../support/migrated.js';
import type { Running } from '../support/process.js';
import { letDie, startQuickAgent } from '../support/quick-agent.js';
import { seeded } from '../support/seeded.js';
import { startServer, type TestServer } from '../support/server.js';
import { watchSteps, type Step } from '../support/steps-of.js';
import { acknowledged, OPERATIONS, type Operation, type Place } from './interrupted-operations.js';

describe('operations of several steps over the link', function () {
  this.timeout(600_000); // two idle cores need a tenth of it
  let proxy: ChaosProxy;
  let server: TestServer;
  let aheadMs = 0;
  const clock = { now: () => Date.now() + aheadMs };
  /** By operation, from the first test. */
  const steps = new Map<string, number>();

  before(async () => {
    proxy = await startChaosProxy({ requestsBy: 'server', random: seeded(1) });
    server = await startServer({
      clock,
      env: { EDITION: 'enterprise_hybrid', PUBLIC_URL: proxy.url, JWT_ACCESS_TTL: '24h' },
    });
    proxy.to(server.url);
  });
  after(async () => {
    await server?.stop();
    await proxy?.stop();
  });

  describe('when the control plane is lost', () => {
    let org: Administration;
    let agent: TestAgent;
    let onStep: (step: Step) => Promise<void>;
    let watched: Operation['name'] | undefined;

    before(async () => {
      org = await administration(server);
      agent = await startAgent(server, org.tenant.id, { clock });
      watchSteps(agent.serving.hosted, { operation: () => watched, onStep: (step) => onStep(step) });
    });
    beforeEach(() => {
      onStep = () => Promise.resolve();
    });
    after(() => agent?.stop());

    for (const { name, prepare } of OPERATIONS)
      it(`before any step of ${name}, it is done once, completely`, async () => {
        const { hosted } = agent.serving;
        watched = name;
        const place: Place = {
          api: org.asOwner,
          org,
          dataDir: agent.dataDir,
          readDocuments: () => hosted.background.settled(),
        };
        const undisturbed = await prepare(place);
        let last = 0;
        onStep = ({ number }) => {
          last = number;
          return Promise.resolve();
        };
        const answer = await acknowledged(undisturbed);
        await hosted.background.settled();
        await undisturbed.check(answer);
        steps.set(name, last);
        expect(last, 'steps').to.be.at.least(3);

        for (let lostAt = 1; lostAt <= last; lostAt += 1) {
          onStep = () => Promise.resolve();
          const asked = await prepare(place);
          let isLost = false;
          onStep = async ({ number }) => {
            if (isLost || number !== lostAt) return;
            isLost = true;
            proxy.shut();
            // The operation goes on when this agent has noticed.
            await until(async () => Promise.resolve(agent.serving.link.sessions === 0), 'the link is lost');
            proxy.open();
          };
          const got = await acknowledged(asked);
          await hosted.background.settled();
          expect(isLost, `step ${lostAt}`).to.equal(true);
          await until(async () => Promise.resolve(agent.serving.link.sessions > 0), 'the link is back');
          await asked.check(got);
        }
      });
  });

  describe('when the agent is killed', () => {
    let org: Administration;
    let dataDir: string;
    let agent: Running | undefined;

    before(async () => {
      org = await administration(server);
      dataDir = await mkdtemp(join(tmpdir(), 'duebook-agent-'));
      await writeFile(join(dataDir, 'tenant.db'), await migratedFile('tenant'), { mode: 0o600 });
      const key = await newLinkKey();
      const instanceId = newId();
      const joining = { server, tenantId: org.tenant.id, key, instanceId, clock };
      const joined = await joinWith({ ...joining, accessMode: 'outbound' });
      storeJoined(identityFiles(dataDir), { joined, instanceId, key });
    });
    after(async () => {
      await agent?.kill();
      if (dataDir) await rm(dataDir, { recursive: true, force: true });
    });
    const answers = () =>
      until(async () => (await org.asOwner.get('/contracts')).status === 200, 'the agent answers', { ms: 60_000 });

    for (const { name, reservedMs, prepare } of OPERATIONS)
      it(`before any step of ${name}, it is done once, completely`, async () => {
        const last = steps.get(name) ?? 0;
        expect(last, 'steps').to.be.at.least(3);
        const place: Place = {
          api: org.asOwner,
          org,
          dataDir,
          readDocuments: async () => {
            if (agent) process.kill(agent.pid, 'SIGUSR2');
            await sleep(50);
          },
        };
        agent ??= await startQuickAgent({ dataDir, aheadMs });
        await answers();
        for (let step = 1; step <= last; step += 1) {
          const victim = agent;
          const asked = await prepare(place);
          letDie(dataDir, { operation: name, step });
          const answering = acknowledged(asked);
          await until(async () => Promise.resolve(!victim.running()), `the agent dies before step ${step}`, {
            ms: 60_000,
          });
          letDie(dataDir, undefined);
          aheadMs += reservedMs + 1_000;
          agent = await startQuickAgent({ dataDir, aheadMs });
          const got = await answering;
          await answers();
          await asked.check(got);
        }
      });
  });
});
