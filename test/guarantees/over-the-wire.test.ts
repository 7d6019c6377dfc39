import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { OPERATION_NAMES } from '../../data-plane-agent/plane/operations/index.js';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import { startServer, type TestServer } from '../support/server.js';
import { organisation } from './organisations.js';
import { sampleOf, send } from './requests.js';

/**
 * Called by the jobs of the process that hosts the data plane, by commands that open the database themselves, by the
 * delivery of messages (over the wire in `test/server/topics.test.ts`), and by moves of data (in `test/hybrid/move-data.test.ts`).
 */
const WITHIN_THE_PROCESS = [
  'beginMovingOut',
  'beginReceiving',
  'cancelMove',
  'chainAudit',
  'checkAudit',
  'continueImports',
  'digestRows',
  'discardMessages',
  'exportAudit',
  'finishMovingOut',
  'finishReceiving',
  'getAuditHead',
  'getInfectedFileNotice',
  'getWorkflowNotice',
  'hashFile',
  'listFilesToMove',
  'listMessages',
  'lookForWork',
  'readDocuments',
  'readFilePart',
  'readLongText',
  'readRowsToMove',
  'receiveFilePart',
  'receiveLongText',
  'receiveRows',
  'removeEnded',
  'removeMovedData',
  'retryMessages',
  'scanFiles',
  'settleMessages',
  'stepOverdueTasks',
  'sweepFiles',
];

describe('a server whose data plane is reached over HTTP', () => {
  const answered = new Set<string>();
  let server: TestServer;
  before(async () => {
    server = await startServer({ remote: true, onAnswered: (operation) => answered.add(operation) });
  });
  after(() => server.stop());

  it('calls every operation that endpoints use over the wire, and each has answered', async function () {
    this.timeout(240_000);
    const failed: string[] = [];
    for (const { route, needs } of Object.values(ENDPOINTS)) {
      if (needs === 'public') continue;
      const org = await organisation(server);
      const { status, text } = await send(org.client, route, await sampleOf(route, org));
      if (status >= 400) failed.push(`${route}: ${status} ${text.slice(0, 200)}`);
    }
    expect(failed).to.deep.equal([]);

    const org = await organisation(server);
    const { params } = await sampleOf('PATCH /payments/:paymentId/receipt', org);
    const others = [
      await org.client.get('/audit', { query: { source: 'data' } }),
      // With one field refused, the other is checked as well: by the currency of the line.
      await org.client.patch(`/payments/${params?.['paymentId']}/receipt`, {
        receivedAmount: 0.001,
        receivedDate: 'soon',
      }),
      // Closed, not found, and reopened.
      await org.client.delete(`/tenant-admin/notification-channels/${newId()}`),
    ];
    expect(others.map(({ status }) => status)).to.deep.equal([200, 400, 404]);
    expect(OPERATION_NAMES.filter((name) => !answered.has(name)).toSorted()).to.deep.equal(WITHIN_THE_PROCESS);
  });
});
