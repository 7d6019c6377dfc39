import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityFiles } from '../../data-plane-agent/agent/identity-files.js';
import { storeJoined } from '../../data-plane-agent/agent/identity.js';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { newLinkKey } from '../../data-plane-agent/base/link/keys.js';
import { signIn } from './accounts.js';
import { administration } from './administration.js';
import { client, type Client } from './http.js';
import { joinWith, until } from './joined-agent.js';
import { migratedFile } from './migrated.js';
import { createDatabase } from './postgres.js';
import { startProcess, type Running } from './process.js';
import { COMPILE_CACHE, program } from './programs.js';
import { startQuickAgent } from './quick-agent.js';
import { startServer, type DatabaseKind, type TestServer } from './server.js';

/** A control plane and an agent that has joined, as processes of their own, which may be killed. */
export interface HybridProcesses {
  readonly subjectId: string;
  readonly ownerId: string;
  /** The folder of the agent's data. */
  readonly agentDir: string;
  /** Starts a replica of the control plane. */
  controlPlane(): Promise<Running>;
  agent(): Promise<Running>;
  /** A client that is signed in. */
  clientOf(origin: string): Client;
  /** Resolves once contract data is answered there. */
  answers(origin: string): Promise<void>;
  remove(): Promise<void>;
}

/** `publicUrl` is where the agent connects. `first` sees the server that ends before the processes start. */
export async function hybridProcesses({
  publicUrl,
  database = 'sqlite',
  first: prepare = () => Promise.resolve(),
}: {
  readonly publicUrl: string;
  readonly database?: DatabaseKind;
  readonly first?: (server: TestServer, tenantId: string) => Promise<void>;
}): Promise<HybridProcesses> {
  const home = await mkdtemp(join(tmpdir(), 'duebook-hybrid-'));
  const agentDir = await mkdtemp(join(tmpdir(), 'duebook-agent-'));
  const platform = database === 'postgres' ? await createDatabase({ migrated: 'platform' }) : undefined;
  for (const schema of ['platform', 'tenant'] as const)
    await writeFile(join(home, `${schema}.db`), await migratedFile(schema), { mode: 0o600 });
  await writeFile(join(agentDir, 'tenant.db'), await migratedFile('tenant'), { mode: 0o600 });
  const env = {
    EDITION: 'enterprise_hybrid',
    DATA_DIR: home,
    PUBLIC_URL: publicUrl,
    JWT_ACCESS_TTL: '24h',
    ...(platform ? { PLATFORM_DATABASE_URL: platform.url } : {}),
  };

  // The organisation and the join, by a server that ends before the processes start.
  const first = await startServer({ env });
  const org = await administration(first);
  const { accessToken } = (await signIn(first.client, { tenant: org.tenant, member: org.owner })).result;
  const key = await newLinkKey();
  const instanceId = newId();
  const joining = { server: first, tenantId: org.tenant.id, key, instanceId, clock: systemClock };
  const joined = await joinWith({ ...joining, accessMode: 'outbound' });
  storeJoined(identityFiles(agentDir), { joined, instanceId, key });
  await prepare(first, org.tenant.id);
  await first.stop();

  const clientOf = (origin: string): Client => client(origin).as(accessToken);
  return {
    subjectId: org.subjectId,
    ownerId: org.owner.id,
    agentDir,
    controlPlane: () =>
      startProcess([program('server/main.ts')], {
        path: '/readyz',
        env: { ...COMPILE_CACHE, LOG_LEVEL: 'fatal', ...env },
      }),
    agent: () => startQuickAgent({ dataDir: agentDir }),
    clientOf,
    answers: (origin) =>
      until(
        async () => {
          const answer = await clientOf(origin)
            .get('/contracts')
            .catch(() => undefined);
          return answer?.status === 200;
        },
        'contract data is answered',
        { ms: 60_000 },
      ),
    remove: async () => {
      await platform?.drop();
      await rm(home, { recursive: true, force: true });
      await rm(agentDir, { recursive: true, force: true });
    },
  };
}
