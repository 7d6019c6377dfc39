import { expect } from 'chai';
import { administration, type Administration } from '../support/administration.js';
import { EICAR, needsClamd, startClamd, type TestClamd } from '../support/clamd.js';
import { ONE_CONTRACT_TEXT, TYPES } from '../support/documents/one-contract.js';
import { settled } from '../support/file-server.js';
import type { DomainError } from '../support/http.js';
import { readFile } from '../support/reading.js';
import { startServer, type TestServer } from '../support/server.js';
import { uploadsOf } from '../support/uploads.js';

describe('extraction from files that are scanned for malware', function () {
  this.timeout(180_000); // the first load of the reader's libraries takes long
  needsClamd();
  let clamd: TestClamd;
  let org: Administration;
  const servers: TestServer[] = [];
  const started = async (env: Readonly<Record<string, string>>): Promise<TestServer> => {
    const server = await startServer({ env });
    servers.push(server);
    await settled(server);
    return server;
  };
  const upload = (text: string) =>
    uploadsOf(org.asOwner).upload({ fileName: 'contract.txt', contentType: TYPES.text, bytes: Buffer.from(text) });
  const refusal = async (fileRef: string) => {
    const { status, body } = await org.asOwner.post<DomainError>('/contracts/extract', { fileRef });
    return [status, body.error.code, body.error.details];
  };
  before(async () => {
    clamd = await startClamd();
    org = await administration(
      await started({ FILE_SCAN_MODE: 'clamav', CLAMAV_URL: clamd.url, FILE_DOWNLOAD_REQUIRES_CLEAN_SCAN: 'false' }),
    );
  });
  after(async () => {
    for (const server of servers) await server.stop();
    await clamd?.stop();
  });

  it('a clean file is read', async () => {
    const file = await upload(ONE_CONTRACT_TEXT);
    expect(file.scanStatus).to.equal('clean');
    expect((await readFile(org.asOwner, file)).status).to.equal('needs_review');
  });

  it('an infected file is not opened', async () => {
    const file = await upload(`${ONE_CONTRACT_TEXT}\n${EICAR}`);
    expect(file.scanStatus).to.equal('infected');
    expect(await refusal(file.id)).to.deep.equal([403, 'FILE_INFECTED', { signature: file.scanSignature }]);
  });

  it('an unscanned file is not opened either, even if downloads permit it', async () => {
    await clamd.kill();
    const file = await upload(ONE_CONTRACT_TEXT);
    expect(file.scanStatus).to.be.oneOf(['pending', 'error']);
    expect((await org.asOwner.get(`/files/${file.id}/download`)).status).to.equal(200);
    expect(await refusal(file.id)).to.deep.equal([409, 'FILE_SCAN_PENDING', { scanStatus: file.scanStatus }]);
  });
});
