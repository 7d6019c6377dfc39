import { expect } from 'chai';
import { join } from 'node:path';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import { openObjectStore } from '../../data-plane-agent/plane/files/objects/open-store.js';
import { register } from '../faults/installation.js';
import { membersIn } from '../support/backup-archive.js';
import { installations } from '../support/cli.js';
import { client } from '../support/http.js';
import { sharedMinio, type S3Server } from '../support/minio.js';
import { startProcess } from '../support/process.js';
import { COMPILE_CACHE, program } from '../support/programs.js';
import { skip } from '../support/skip.js';
import { addressOf } from '../support/stores.js';
import { uploadsOf } from '../support/uploads.js';

interface Printed {
  readonly files: { readonly store: string; readonly copied: boolean };
  readonly objects: number;
  readonly missing: { readonly count: number; readonly keys: readonly string[] };
}

describe('a backup of an installation whose files are on an S3 server', function () {
  this.timeout(180_000);
  const install = installations();
  let minio: S3Server;

  before('MinIO', async function () {
    try {
      minio = await sharedMinio();
    } catch (error) {
      skip(this, error instanceof Error ? error.message : String(error));
    }
  });

  it('lists the files and does not copy them; a restore names those that the bucket lacks', async () => {
    const installation = await install();
    const env = { OBJECT_STORE_URL: minio.url('backed-up'), BACKUP_PASSPHRASE: 'a lost disk is no lost book' };
    const server = await startProcess([program('server/main.ts')], {
      path: '/api/v1/health',
      env: { ...COMPILE_CACHE, LOG_LEVEL: 'error', DATA_DIR: installation.dataDir, ...env },
    });
    const file = join(installation.folder, 'book.tar');
    const run = async (args: readonly string[], more = {}): Promise<Printed> => {
      const { code, stdout, stderr } = await installation.inProcess([...args, '--json'], { env: { ...env, ...more } });
      expect(code, stderr).to.equal(0);
      return JSON.parse(stdout) as Printed;
    };
    let sha256 = '';
    try {
      const { token, owner } = await register(server.origin);
      const uploads = uploadsOf(client(server.origin, token));
      ({ sha256 } = await uploads.upload({ subjectId: owner.subjectId }));
      await uploads.upload({ subjectId: owner.subjectId, fileName: 'second.pdf' });
      const made = await run(['backup', file]);
      expect([made.files, made.objects]).to.deep.equal([{ store: 's3', copied: false, count: 0, bytes: 0 }, 2]);
    } finally {
      await server.stop();
    }
    expect(membersIn(file).filter((name) => name.startsWith('files/'))).to.deep.equal([]);
    expect(sha256).to.have.length(64);

    const same = await run(['restore', file], { DATA_DIR: join(installation.folder, 'same') });
    expect(same.missing).to.deep.equal({ count: 0, keys: [] });
    const { store } = openObjectStore(addressOf(env.OBJECT_STORE_URL), {
      publicUrl: 'http://localhost',
      keyRing: parseKeyRing(generateKeyRingText()),
      clock: systemClock,
    });
    const keys = [];
    for await (const { key } of store.list('tenants/')) keys.push(key);
    expect(keys).to.have.length(2);
    await store.remove(keys[0] ?? '');
    await store.close();
    const lacking = await run(['restore', file], { DATA_DIR: join(installation.folder, 'lacking') });
    expect(lacking.missing).to.deep.equal({ count: 1, keys: [keys[0]] });
  });
});
