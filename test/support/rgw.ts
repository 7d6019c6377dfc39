import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort, speaksHttp } from './guarded.js';
import type { S3Server } from './minio.js';

/**
 * A second S3 implementation: Ceph's gateway over one monitor and one store in memory, from Debian's `radosgw`, `ceph-mon` and `ceph-osd`.
 * Throws with the reason where they are not, or when not root, as which alone they start.
 */
export function sharedRgw(): Promise<S3Server> {
  return (shared ??= start());
}

let shared: Promise<S3Server> | undefined;
let home: string | undefined;

const PROGRAMS = ['radosgw', 'radosgw-admin', 'ceph', 'ceph-mon', 'ceph-osd', 'ceph-authtool', 'monmaptool'];
const run = promisify(execFile);

async function start(): Promise<S3Server> {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const missing = PROGRAMS.filter((program) => !folders.some((folder) => existsSync(join(folder, program))));
  if (missing.length > 0) throw new Error(`no Ceph gateway: ${missing.join(', ')} not on the PATH`);
  if (process.getuid?.() !== 0) throw new Error('no Ceph gateway: it starts as root alone');
  const at = await mkdtemp(join(tmpdir(), 'duebook-rgw-'));
  home = at;
  const [port, mon2, mon1] = [await freePort(), await freePort(), await freePort()];
  const origin = `http://127.0.0.1:${port}`;
  for (const folder of ['mon', 'osd0', 'rgw', 'run', 'log']) await mkdir(join(at, folder));
  await writeFile(join(at, 'ceph.conf'), configuration(at, { port, mon2, mon1 }));
  const keyring = join(at, 'keyring');
  const env = { ...process.env, HOME: at, CEPH_CONF: join(at, 'ceph.conf') };
  const program = async (name: string, ...args: readonly string[]): Promise<string> => (await run(name, ['-c', join(at, 'ceph.conf'), ...args], { env })).stdout;
  const tool = async (name: string, ...args: readonly string[]): Promise<unknown> => run(name, [...args], { env });
  await tool('ceph-authtool', keyring, '--create-keyring', '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *');
  await tool('ceph-authtool', keyring, '--gen-key', '-n', 'client.admin', '--cap', 'mon', 'allow *', '--cap', 'osd', 'allow *', '--cap', 'mgr', 'allow *');
  await tool('monmaptool', '--create', '--addv', 'a', `[v2:127.0.0.1:${mon2},v1:127.0.0.1:${mon1}]`, '--fsid', FSID, join(at, 'monmap'));
  await program('ceph-mon', '--mkfs', '-i', 'a', '--monmap', join(at, 'monmap'), '--keyring', keyring);
  await program('ceph-mon', '-i', 'a');
  await program('ceph', 'osd', 'new', OSD);
  await tool('ceph-authtool', keyring, '--gen-key', '-n', 'osd.0', '--cap', 'mon', 'allow profile osd', '--cap', 'osd', 'allow *');
  await program('ceph', 'auth', 'add', 'osd.0', '-i', keyring);
  await program('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', OSD);
  await program('ceph-osd', '-i', '0');
  const [accessKey, secretKey, region] = ['testkey', 'test/secret+%', 'default'];
  await program('radosgw-admin', 'user', 'create', '--uid=test', '--display-name=test', `--access-key=${accessKey}`, `--secret=${secretKey}`);
  await program('radosgw', '-n', 'client.admin', '--pid-file', join(at, 'run', 'rgw.pid'));
  for (const giveUpAt = performance.now() + 30_000; !(await speaksHttp(origin)); await sleep(50)) if (performance.now() > giveUpAt) throw new Error('the Ceph gateway did not answer in 30 s');
  return { origin, accessKey, secretKey, region, url: (bucket) => `s3://${encodeURIComponent(accessKey)}:${encodeURIComponent(secretKey)}@127.0.0.1:${port}/${bucket}?tls=false&region=${region}` };
}

const FSID = '6c7b1a55-2f0e-4a53-9d1f-3a0b6f8f5f10';
const OSD = '0e0a4a0e-7d1c-4e0b-8a50-59f0c3a0b7a1';

/** The servers put themselves into the background and write their process ids. */
async function stop(): Promise<void> {
  if (home === undefined) return;
  const at = home;
  home = undefined;
  shared = undefined;
  const files = (await readdir(join(at, 'run'))).filter((name) => name.endsWith('.pid'));
  for (const file of files) await end(Number((await readFile(join(at, 'run', file), 'utf8')).trim()));
  await rm(at, { recursive: true, force: true, maxRetries: 5 });
}

async function end(pid: number): Promise<void> {
  if (!(pid > 1)) return;
  for (const giveUpAt = performance.now() + 10_000; ; await sleep(50)) {
    try {
      process.kill(pid, performance.now() > giveUpAt ? 'SIGKILL' : 'SIGTERM');
    } catch {
      return; // it is gone
    }
  }
}

const configuration = (at: string, { port, mon2, mon1 }: { port: number; mon2: number; mon1: number }): string => `[global]
fsid = ${FSID}
keyring = ${at}/keyring
mon host = [v2:127.0.0.1:${mon2},v1:127.0.0.1:${mon1}]
mon initial members = a
public network = 127.0.0.0/8
ms bind ipv6 = false
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
osd pool default size = 1
osd pool default min size = 1
mon allow pool size one = true
osd pool default pg num = 8
osd pool default pg autoscale mode = off
mon max pg per osd = 1000
osd_pool_default_pgp_num = 8
mon_osd_initial_require_min_compat_client = luminous
paxos propose interval = 0.05
paxos min wait = 0.01
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 2147483648
run dir = ${at}/run
admin socket = ${at}/run/$name.asok
log file = ${at}/log/$name.log
pid file = ${at}/run/$name.pid
mon data avail crit = 1
mon data avail warn = 1
[mon.a]
host = localhost
mon data = ${at}/mon
mon addr = 127.0.0.1
[osd.0]
osd data = ${at}/osd0
[client]
rgw data = ${at}/rgw
rgw frontends = beast endpoint=127.0.0.1:${port}
rgw dns name = 127.0.0.1
`;

// Registered where this file is first imported, at the top of a test file: a hook of the root suite, with any config.
if (typeof after === 'function') after('stop the Ceph gateway', stop);
