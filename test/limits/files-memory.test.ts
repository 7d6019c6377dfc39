import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PASSWORD } from '../support/accounts.js';
import { needsClamd, startClamd } from '../support/clamd.js';
import { client as clientOf } from '../support/http.js';
import { heldWhile } from '../support/memory-of-files.js';
import { startProcess } from '../support/process.js';
import { program } from '../support/programs.js';
import { skip } from '../support/skip.js';

/** The benchmark has the long runs: fifty files, on a folder and on MinIO. */
const FILES = { count: 5, sizeBytes: 40_000_000 };
const MOST_GROWTH_MB = 64;

describe('the memory of a server that accepts large files', function () {
  this.timeout(240_000); // a separate server, and a lot of data
  needsClamd();
  const undo: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const step of undo.splice(0).toReversed()) await step();
  });

  it('stays constant while five files of 40 MB are uploaded, confirmed and scanned', async function () {
    const clamd = await startClamd();
    undo.push(clamd.stop);
    const DATA_DIR = await mkdtemp(join(tmpdir(), 'duebook-memory-'));
    undo.push(() => rm(DATA_DIR, { recursive: true, force: true }));
    const server = await startProcess([program('server/main.ts')], {
      path: '/readyz',
      env: { DATA_DIR, LOG_LEVEL: 'warn', RATE_LIMIT_PER_MINUTE: '0', FILE_SCAN_MODE: 'clamav', CLAMAV_URL: clamd.url },
    });
    undo.push(server.stop);
    const { status, body, text } = await clientOf(server.origin).post<{ accessToken: string }>('/auth/register', {
      tenantName: 'Large',
      tenantSlug: 'large',
      adminName: 'Lin',
      email: 'lin@large.test',
      password: PASSWORD,
      subjectName: 'Large Ltd',
    });
    expect(status, text).to.equal(201);
    const held = await heldWhile(server, clientOf(server.origin, body.accessToken), FILES);
    if (!held) return skip(this, 'this system does not tell what a process holds of memory');
    expect(held.most - held.before, JSON.stringify(held)).to.be.lessThan(MOST_GROWTH_MB);
  });
});
