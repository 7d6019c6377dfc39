import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Download } from '../../data-plane-agent/plane/contract/records/files.js';
import { PASSWORD } from '../support/accounts.js';
import { LOCAL_CERTIFICATE } from '../support/certificate.js';
import { installations } from '../support/cli.js';
import { client as clientOf, type Client } from '../support/http.js';
import { WITH_LOCAL_NAMES } from '../support/local-names.js';
import { startTlsMinio, type S3Server } from '../support/minio.js';
import { overTls } from '../support/over-tls.js';
import { startProcess } from '../support/process.js';
import { program } from '../support/programs.js';
import { skip } from '../support/skip.js';
import { PDF, uploadsOf } from '../support/uploads.js';

describe('files in an S3 store behind TLS', function () {
  this.timeout(240_000); // the test starts separate servers
  const undo: (() => Promise<unknown>)[] = [];
  const install = installations();
  let minio: S3Server;
  /**
   * For programs that trust the issuer of the store's certificate, as an installation with a private authority does.
   */
  let trusting: Readonly<Record<string, string>>;
  before('MinIO', async function () {
    const started = await startTlsMinio().catch((error: unknown) =>
      skip(this, error instanceof Error ? error.message : String(error)),
    );
    undo.push(started.stop);
    minio = started.server;
    const folder = await mkdtemp(join(tmpdir(), 'duebook-tls-'));
    undo.push(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, 'authority.pem'), LOCAL_CERTIFICATE);
    trusting = { NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem') };
  });
  after(async () => {
    for (const step of undo.toReversed()) await step();
  });

  const addresses: Readonly<Record<string, { readonly url: () => string; readonly host: (port: string) => string }>> = {
    path: { url: () => minio.url('by-path'), host: (port) => `127.0.0.1:${port}` },
    virtual: {
      url: () => `${minio.url('by-name').replace('@127.0.0.1:', '@s3.localhost:')}&style=virtual`,
      host: (port) => `by-name.s3.localhost:${port}`,
    },
  };
  for (const [style, { url, host }] of Object.entries(addresses)) {
    it(`are presigned, uploaded, confirmed and downloaded with style=${style}`, async () => {
      const client = await startedOn(url());
      const uploads = uploadsOf(client);
      const announced = await uploads.announce();
      expect(new URL(announced.uploadUrl)).to.include({ protocol: 'https:', host: host(new URL(minio.origin).port) });
      expect(
        (await overTls(announced.uploadUrl, { method: 'PUT', headers: announced.headers, body: PDF })).status,
      ).to.equal(200);
      const { status, body: file, text } = await uploads.confirm(announced);
      expect(status, text).to.equal(201);
      expect(file.scanStatus).to.equal('skipped');
      const { body: download } = await client.get<Download>(`/files/${file.id}/download`);
      expect(await overTls(download.url)).to.deep.equal({ status: 200, bytes: PDF });
    });
  }

  /**
   * A server in a separate process, as a process reads its trusted authorities at start; its organisation is signed in.
   */
  async function startedOn(objectStoreUrl: string): Promise<Client> {
    const DATA_DIR = await mkdtemp(join(tmpdir(), 'duebook-tls-'));
    undo.push(() => rm(DATA_DIR, { recursive: true, force: true }));
    const server = await startProcess([WITH_LOCAL_NAMES, program('server/main.ts')], {
      path: '/readyz',
      env: { ...trusting, DATA_DIR, LOG_LEVEL: 'warn', OBJECT_STORE_URL: objectStoreUrl },
    });
    undo.push(server.stop);
    const { status, body, text } = await clientOf(server.origin).post<{ accessToken: string }>('/auth/register', {
      tenantName: 'Sealed',
      tenantSlug: 'sealed',
      adminName: 'Lin',
      email: 'lin@sealed.test',
      password: PASSWORD,
      subjectName: 'Sealed Ltd',
    });
    expect(status, text).to.equal(201);
    return clientOf(server.origin, body.accessToken);
  }

  describe('checked by the doctor', () => {
    interface Check {
      readonly name: string;
      readonly status: string;
      readonly detail: string;
      readonly fix: string | null;
    }
    const objectStore = async (env: Readonly<Record<string, string>>): Promise<Check | undefined> => {
      const { stdout } = await (await install()).cli(['doctor', '--json'], { env });
      return (JSON.parse(stdout) as { checks: Check[] }).checks.find(({ name }) => name === 'object_store');
    };

    it('are behind an untrusted certificate', async () => {
      const found = await objectStore({ OBJECT_STORE_URL: minio.url('by-path') });
      expect(found).to.include({ status: 'fail' });
      expect(found?.detail).to.contain('DEPTH_ZERO_SELF_SIGNED_CERT');
      expect(found?.fix).to.contain('NODE_EXTRA_CA_CERTS');
    });

    it('are in another region', async () => {
      const found = await objectStore({
        ...trusting,
        OBJECT_STORE_URL: minio.url('by-path').replace('region=eu-test-1', 'region=us-east-1'),
      });
      expect(found?.detail).to.contain(
        'region: the object store is not in the region us-east-1 (AuthorizationHeaderMalformed)',
      );
      expect(found?.fix).to.equal('set region in OBJECT_STORE_URL to eu-test-1');
    });
  });
});
