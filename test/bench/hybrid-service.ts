import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startProcess, type Running } from '../support/process.js';
import { root } from '../support/source.js';
import { CACHE } from './dataset.js';
import { ask } from './load.js';
import { signIn, startService } from './service.js';

/** The built server and the built agent as separate processes, connected over the outbound link. */
export interface HybridService {
  readonly server: Running;
  readonly agent: Running;
  /** Of the member of the organisation `bench`. */
  readonly token: string;
  stop(): Promise<void>;
}

const AGENT = join(root, 'dist/data-plane-agent/agent/main.js');
const START_MS = 30_000;

/** On copies of a data folder: the platform database with the server, the contracts of `bench` with its agent. */
export async function startHybridService(folder: string): Promise<HybridService> {
  const dataDir = await mkdtemp(join(CACHE, 'hybrid-'));
  const undo: (() => Promise<unknown>)[] = [() => rm(dataDir, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const step of undo.toReversed()) await step();
  };
  try {
    const [serverDir, agentDir] = [join(dataDir, 'server'), join(dataDir, 'agent')];
    await mkdir(agentDir, { mode: 0o700 });
    await cp(folder, serverDir, { recursive: true, filter: (path) => !path.includes('tenant.db') });
    for (const name of ['tenant.db', 'secret-keys']) await cp(join(folder, name), join(agentDir, name));
    const server = await startService(serverDir, { EDITION: 'enterprise_hybrid', RATE_LIMIT_PER_MINUTE: '0' });
    undo.push(() => server.stop());
    const { token } = await signIn(server.origin, 'bench');
    const { joinToken } = JSON.parse(
      await ask(
        server.origin,
        { method: 'POST', path: '/api/v1/tenant-admin/data-plane', body: JSON.stringify({ kind: 'agent' }) },
        { token },
      ),
    ) as { joinToken: string };
    await promisify(execFile)(process.execPath, [AGENT, 'join', '--control-plane', server.origin], {
      env: { PATH: process.env.PATH, DATA_DIR: agentDir, DUEBOOK_JOIN_TOKEN: joinToken },
    });
    const agent = await startProcess([AGENT, 'run'], { path: '/readyz', env: { DATA_DIR: agentDir } });
    undo.push(() => agent.stop());
    await answering(server.origin, token);
    return { server, agent, token, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function answering(origin: string, token: string): Promise<void> {
  for (const giveUpAt = performance.now() + START_MS; ;) {
    try {
      await ask(origin, { method: 'GET', path: '/api/v1/contracts?pageSize=1' }, { token });
      return;
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
    }
  }
}
