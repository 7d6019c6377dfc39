import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { readConfig, reportFaults } from '../../data-plane-agent/base/config.js';
import { createLog, type Log } from '../../data-plane-agent/base/log.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import type { HostedPlane } from '../../data-plane-agent/host/open-plane.js';
import { HOST_SETTINGS, PROCESS_SETTINGS } from '../../data-plane-agent/host/settings.js';
import { bind, type BoundPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import { OPERATIONS, type Operations } from '../../data-plane-agent/plane/operations/index.js';
import { createRemoteDataPlane } from '../../data-plane-agent/plane/remote.js';
import { SETTINGS } from '../../server/config.js';
import { hostAlone, OPERATIONS_PATH } from '../support/host-alone.js';
import { aCall } from '../support/plane.js';
import { aContract } from '../support/samples.js';
import { PDF } from '../support/uploads.js';
import { callOverHttp } from '../support/wire.js';

describe('a data plane hosted without the server', () => {
  let directory: string;
  let url: string;
  let hosted: HostedPlane;
  let plane: BoundPlane<Operations>;
  const call = aCall();
  const logged: Record<string, unknown>[] = [];
  const log: Log = createLog({
    level: 'info',
    name: 'test',
    destination: { write: (line) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
  });
  const undo: (() => unknown)[] = [];

  /** Settings read from the environment with the common list. */
  const settingsIn = (env: Record<string, string>) => {
    const read = readConfig(
      { ...PROCESS_SETTINGS, ...HOST_SETTINGS },
      { DATA_DIR: directory, ...env },
      { production: false },
    );
    if (!read.ok) throw new Error(reportFaults(read.faults));
    return { ...read.values, keyRing: parseKeyRing(generateKeyRingText()) };
  };
  const started = async (env: Record<string, string>) => {
    const lone = await hostAlone(settingsIn(env), { clock: systemClock, log, residentBytes: () => 0 });
    undo.push(lone.hosted.close, lone.stop);
    return lone;
  };

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'duebook-host-'));
    undo.push(() => rm(directory, { recursive: true, force: true }));
    const lone = await started({ METRICS_TOKEN: 'a-token-for-the-metrics' });
    const { transport, close } = callOverHttp({ port: lone.port, path: OPERATIONS_PATH });
    undo.push(close);
    url = `http://127.0.0.1:${lone.port}`;
    hosted = lone.hosted;
    await hosted.probes.files(); // creates the folder of the store
    plane = bind(createRemoteDataPlane({ operations: OPERATIONS, transport }), call, { operations: OPERATIONS });
  });
  after(async () => {
    for (const step of undo.toReversed()) await step();
  });

  it('stores a contract and its receipts', async () => {
    const {
      id,
      payments: [line],
    } = await plane.createContract(
      aContract({ payments: [{ period: '2026-04', dueDate: '2026-04-30', amount: 1_000 }] }),
    );
    const paid = await plane.recordReceipt({
      paymentId: line?.id ?? '',
      receivedAmount: 400,
      receivedDate: '2026-03-01',
    });
    expect(paid).to.include({ receivedAmount: 400 });
    expect((await plane.getContract({ contractId: id })).payments[0]).to.include({ receivedAmount: 400 });
    expect((await plane.listContracts({})).items.map((one) => one.id)).to.deep.equal([id]);
  });

  it('accepts and returns the bytes of files at its own signed links', async () => {
    const presigned = await plane.presignFile({
      fileName: 'contract.pdf',
      contentType: 'application/pdf',
      kind: 'contract_original',
      sizeBytes: PDF.length,
    });
    expect(presigned.uploadUrl).to.match(new RegExp(`^${url}/files/`));
    expect(
      (
        await fetch(presigned.uploadUrl, {
          method: 'PUT',
          headers: { ...presigned.headers },
          body: new Uint8Array(PDF),
        })
      ).status,
    ).to.equal(200);
    const { bucket, objectKey, uploadToken } = presigned;
    const { id } = await plane.confirmFile({
      bucket,
      objectKey,
      uploadToken,
      fileName: 'contract.pdf',
      contentType: 'application/pdf',
      kind: 'contract_original',
      sizeBytes: PDF.length,
    });
    const link = await plane.downloadFile({ fileId: id });
    const got = await fetch(link.url);
    expect(Buffer.from(await got.arrayBuffer())).to.deep.equal(PDF);
    expect(got.headers.get('x-content-type-options')).to.equal('nosniff');
  });

  it('answers probes, metrics with their token, and no other paths', async () => {
    for (const path of ['/livez', '/readyz'])
      expect(await (await fetch(`${url}${path}`)).json()).to.deep.equal({ status: 'ok' });
    expect((await fetch(`${url}/metrics`)).status).to.equal(401);
    const metrics = await (
      await fetch(`${url}/metrics`, { headers: { Authorization: 'Bearer a-token-for-the-metrics' } })
    ).text();
    expect(metrics).to.contain('duebook_database_connections').and.to.contain('database="tenant"');
    expect((await fetch(`${url}/api/v1/contracts`)).status).to.equal(404);
    expect(logged.find(({ msg, route }) => msg === 'request' && route === '/livez')).to.include({
      status: 200,
      method: 'GET',
    });
  });

  it('finds the tenants with due work, and does it for the active ones', async () => {
    const asked: string[] = [];
    const jobs = hosted.jobs({
      tenants: async (ids) => {
        asked.push(...ids);
        return ids.map((id) => ({
          id,
          timeZone: 'Asia/Shanghai',
          reminderLeadDays: 7,
          reminderEscalationDays: 7,
          reminderHour: 9,
          currencyCode: 'CNY',
          language: 'zh-CN',
        }));
      },
    });
    for (const { run } of jobs) await run(new AbortController().signal);
    expect(asked).to.deep.equal([call.tenantId]);
    expect(await plane.getAuditHead({})).to.deep.include({ waiting: 0 });
    for (const { run } of jobs) await run(new AbortController().signal);
    expect(asked, 'nothing is due any more').to.deep.equal([call.tenantId]);
  });

  it('reports what its object store does not allow', async () => {
    const file = join(directory, 'no-folder');
    await writeFile(file, '');
    const { hosted: other } = await started({
      OBJECT_STORE_URL: `file:${file}`,
      TENANT_DATABASE_URL: `sqlite:${join(directory, 'other.db')}`,
    });
    await other.probes.files();
    expect(
      logged.some(
        ({ level, msg }) => level === 50 && String(msg).startsWith('the object store cannot be used for files: '),
      ),
    ).to.equal(true);
    expect(await other.probes.database(1_000)).to.equal(true);
  });

  it('has the settings that the server has for its own data plane', () => {
    expect(SETTINGS).to.include({ ...PROCESS_SETTINGS, ...HOST_SETTINGS });
  });
});
