import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import { createLocalDataPlane } from '../../data-plane-agent/plane/local/index.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';

/** A process of its own that records one receipt: `receipt-program.js URL CALL INPUT`, both of them JSON. */
const [url = '', call = '', input = ''] = process.argv.slice(2);
const database = await openDatabase(url, { poolMax: 1 });
try {
  const plane = createLocalDataPlane({
    operations: OPERATIONS,
    database,
    clock: systemClock,
    keyRing: parseKeyRing(generateKeyRingText()),
  });
  await plane.invoke('recordReceipt', { call: JSON.parse(call) as Call }, JSON.parse(input) as { paymentId: string });
} finally {
  await database.close();
}
