import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { administration } from '../support/administration.js';
import { settled } from '../support/file-server.js';
import { freePort } from '../support/guardian.js';
import { sharedMinio } from '../support/minio.js';
import { needsPrograms } from '../support/needs-programs.js';
import { aContract } from '../support/samples.js';
import { startServer } from '../support/server.js';
import { skip } from '../support/skip.js';
import { root } from '../support/source.js';
import { stepsOf } from '../support/tour.js';

describe('the three steps of the README', function () {
  this.timeout(180_000);
  needsPrograms('bash', 'curl');

  for (const store of ['a folder', 'minio'] as const) {
    it(`work with curl alone, on ${store}`, async function () {
      const minio =
        store === 'minio'
          ? await sharedMinio().catch((error: unknown) =>
              skip(this, error instanceof Error ? error.message : String(error)),
            )
          : undefined;
      const port = String(await freePort());
      const server = await startServer({
        env: {
          PORT: port,
          PUBLIC_URL: `http://localhost:${port}`,
          SSO_PROVIDERS: '[]',
          ...(minio ? { OBJECT_STORE_URL: minio.url(`duebook-tour-${process.pid}`) } : {}),
        },
      });
      const cwd = await mkdtemp(join(tmpdir(), 'duebook-tour-'));
      try {
        await settled(server);
        const org = await administration(server);
        const { body: contract } = await org.asOwner.post<{ id: string }>(
          '/contracts',
          aContract({ subjectId: org.subjectId, ownerId: org.owner.id }),
        );
        const { body: session } = await server.client.post<{ accessToken: string }>('/auth/login', {
          tenantSlug: org.tenant.slug,
          email: org.owner.email,
          password: 'Correct-Horse-42',
        });
        const readme = await readFile(join(root, 'README.md'), 'utf8');
        const helpers = /^field\(\) .*$/m.exec(readme)?.[0] ?? '';
        const api = /^api\(\) .*$/m.exec(readme)?.[0] ?? '';
        const steps = stepsOf(readme, 'Files, in three steps');
        const script = [
          `base=${server.client.base}`,
          helpers,
          api,
          `token=${session.accessToken}`,
          `contract=${contract.id}`,
          ...steps.map(({ command }) => command),
        ].join('\n');
        const shell = spawn('bash', ['-eu', '-o', 'pipefail'], { cwd });
        shell.stdin.end(script);
        const [printed, complaints] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'close')]);
        expect(complaints).to.equal('');
        expect(printed.trim().split('\n')).to.deep.equal(
          steps.flatMap(({ answer }) => (answer && 'lines' in answer ? answer.lines : [])),
        );
      } finally {
        await server.stop();
        await rm(cwd, { recursive: true, force: true });
      }
    });
  }
});
