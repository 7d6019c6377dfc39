import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLIENT_TOOLS, needsClientTools, runTool } from '../support/client-tools.js';
import { organisation, type Organisation } from '../guarantees/organisations.js';
import { aContract, aLine } from '../support/samples.js';
import { startServer, type TestServer } from '../support/server.js';

/**
 * What it may find is all but one thing: that a request which fits its schema is refused. Whether an id exists, a code
 * is still good and two fields agree is for 400 and 422 to say, and not for a schema.
 */
const EXCEPT = 'positive_data_acceptance';
/** The same requests each time: every boundary of every schema, and two examples of each operation beside them. */
const BOUNDED = [
  '--phases=coverage,fuzzing',
  '--max-examples=2',
  '--seed=1',
  '--generation-deterministic',
  '--no-shrink',
  '--no-color',
  '--warnings=off',
];

/**
 * The session is needed to the end. Of writes the boundaries are those of what is refused, as thousands of good bodies
 * would be told apart by little: the tests of each endpoint send some, and so do the examples.
 */
const CONFIG = `[[operations]]
include-operation-id = "logout"
enabled = false

${['POST', 'PATCH', 'PUT', 'DELETE']
  .map((method) => `[[operations]]\ninclude-method = "${method}"\nphases.coverage.generation.mode = "negative"\n`)
  .join('\n')}`;

/** An idle machine needs a tenth of it. */
const TIMEOUT_MS = 240_000;

describe('schemathesis finds nothing', () => {
  needsClientTools();
  let server: TestServer;
  let org: Organisation;
  let folder: string;
  before(async () => {
    server = await startServer({ env: { LOGIN_FAILURES_PER_ACCOUNT: '0', LOGIN_FAILURES_PER_IP: '0' } });
    org = await organisation(server);
    for (let i = 0; i < 3; i++)
      await org.client.post(
        '/contracts',
        aContract({
          subjectId: org.subjectId,
          ownerId: org.owner.id,
          payments: [aLine(), aLine({ dueDate: '2026-01-31' })],
        }),
      );
    folder = await mkdtemp(join(tmpdir(), 'duebook-schemathesis-'));
    await writeFile(join(folder, 'schemathesis.toml'), CONFIG);
  });
  after(async () => {
    await server?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  // Each run begins by importing the program and reading the whole document, which takes longer than many requests.
  for (const [what, methods] of [
    ['what is read', ['GET']],
    ['what is entered', ['POST']],
    ['what is changed, replaced and removed', ['PATCH', 'PUT', 'DELETE']],
  ] as const)
    it(`in ${what}`, async () => {
      await runTool(
        [
          join(CLIENT_TOOLS, 'python', 'bin', 'schemathesis'),
          'run',
          `${server.client.base}/openapi.json`,
          `--header=Authorization: Bearer ${org.token}`,
          ...methods.flatMap((method) => ['--include-method', method]),
          `--exclude-checks=${EXCEPT}`,
          ...BOUNDED,
        ],
        { cwd: folder, timeoutMs: TIMEOUT_MS - 2_000 },
      );
    }).timeout(TIMEOUT_MS);
});
