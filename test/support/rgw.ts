import { type ChildProcess, execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { speaksHttp } from './guarded.js';
import { ended, endsWithItsRun, freePort, guarded } from './guardian.js';
import type { S3Server } from './minio.js';

/**
 * A second S3 implementation: Ceph's gateway with one monitor and one in-memory store, from Debian's `radosgw`,
 * `ceph-mon` and `ceph-osd`. Throws with the reason if they are not installed, or if not running as root, which they
 * require.
 */
export function sharedRgw(): Promise<S3Server> {
  return (shared ??= start());
}

let shared: Promise<S3Server> | undefined;
let reaper: ChildProcess | undefined;

const PROGRAMS = ['radosgw', 'radosgw-admin', 'ceph', 'ceph-mon', 'ceph-osd', 'ceph-authtool', 'monmaptool'];
const run = promisify(execFile);

async function start(): Promise<S3Server> {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const missing = PROGRAMS.filter((program) => !folders.some((folder) => existsSync(join(folder, program))));
  if (missing.length > 0) throw new Error(`no Ceph gateway: ${missing.join(', ')} not on the PATH`);
  if (process.getuid?.() !== 0) throw new Error('no Ceph gateway: it starts as root alone');
  const at = await mkdtemp(join(tmpdir(), 'duebook-rgw-'));
  const [port, mon2, mon1] = [await freePort(), await freePort(), await freePort()];
  const origin = `http://127.0.0.1:${port}`;
  for (const folder of ['mon', 'osd0', 'rgw', 'run', 'logs']) await mkdir(join(at, folder));
  await writeFile(join(at, 'ceph.conf'), configuration(at, { port, mon2, mon1 }));
  reaper = await guarded({
    home: at,
    command: ['/bin/sh', '-c', REAPER, 'reaper', join(at, 'run')],
    env: { PATH: process.env.PATH },
    signal: 'TERM',
  });
  const keyring = join(at, 'keyring');
  const env = { ...process.env, HOME: at, CEPH_CONF: join(at, 'ceph.conf') };
  const program = async (name: string, ...args: readonly string[]): Promise<string> =>
    (await run(name, ['-c', join(at, 'ceph.conf'), ...args], { env })).stdout;
  const tool = async (name: string, ...args: readonly string[]): Promise<unknown> => run(name, [...args], { env });
  await tool('ceph-authtool', keyring, '--create-keyring', '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *');
  await tool(
    'ceph-authtool',
    keyring,
    '--gen-key',
    '-n',
    'client.admin',
    '--cap',
    'mon',
    'allow *',
    '--cap',
    'osd',
    'allow *',
    '--cap',
    'mgr',
    'allow *',
  );
  await tool(
    'monmaptool',
    '--create',
    '--addv',
    'a',
    `[v2:127.0.0.1:${mon2},v1:127.0.0.1:${mon1}]`,
    '--fsid',
    FSID,
    join(at, 'monmap'),
  );
  await program('ceph-mon', '--mkfs', '-i', 'a', '--monmap', join(at, 'monmap'), '--keyring', keyring);
  await program('ceph-mon', '-i', 'a');
  await program('ceph', 'osd', 'new', OSD);
  await tool(
    'ceph-authtool',
    keyring,
    '--gen-key',
    '-n',
    'osd.0',
    '--cap',
    'mon',
    'allow profile osd',
    '--cap',
    'osd',
    'allow *',
  );
  await program('ceph', 'auth', 'add', 'osd.0', '-i', keyring);
  await program('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', OSD);
  await program('ceph-osd', '-i', '0');
  const [accessKey, secretKey, region] = ['testkey', 'test/secret+%', 'default'];
  await program(
    'radosgw-admin',
    'user',
    'create',
    '--uid=test',
    '--display-name=test',
    `--access-key=${accessKey}`,
    `--secret=${secretKey}`,
  );
  await program('radosgw', '-n', 'client.admin', '--pid-file', join(at, 'run', 'rgw.pid'));
  for (const giveUpAt = performance.now() + 30_000; !(await speaksHttp(origin)); await sleep(50))
    if (performance.now() > giveUpAt) throw new Error('the Ceph gateway did not answer in 30 s');
  return {
    origin,
    accessKey,
    secretKey,
    region,
    url: (bucket) =>
      `s3://${encodeURIComponent(accessKey)}:${encodeURIComponent(secretKey)}@127.0.0.1:${port}/${bucket}?tls=false&region=${region}`,
  };
}

const FSID = '6c7b1a55-2f0e-4a53-9d1f-3a0b6f8f5f10';
const OSD = '0e0a4a0e-7d1c-4e0b-8a50-59f0c3a0b7a1';

/** The servers run in the background and write their process ids, by which this shell stops them. */
const REAPER = `
end() {
  pids=$!
  for file in "$1"/*.pid; do [ -f "$file" ] && pids="$pids $(cat "$file")"; done
  kill $pids
  for pid in $pids; do left=20; while kill -0 "$pid" 2>/dev/null && [ "$left" -gt 0 ]; do left=$((left - 1)); sleep 0.25; done; kill -9 "$pid" 2>/dev/null; done
  exit
}
trap 'end "$1"' TERM
while :; do sleep 3600 & wait $!; done`;

async function stop(): Promise<void> {
  if (reaper) await ended(reaper);
  reaper = undefined;
  shared = undefined;
}

const configuration = (
  at: string,
  { port, mon2, mon1 }: { port: number; mon2: number; mon1: number },
): string => `[global]
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
log file = ${at}/logs/$name.log
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

// Registered when this module is first imported, at the top of a test file, so that it is a hook of the root suite.
if (endsWithItsRun) after('stop the Ceph gateway', stop);
