import { s } from '../../../base/schema.js';
import { LOOKED_AT_MS } from '../../domain/files/scans.js';
import { mayScan } from '../../files/scanner/scanner.js';
import { multiStepOperation } from '../../steps/operation-context.js';
import { recordScan, SCAN_LEASE_MS } from '../../steps/files/record-scan.js';
import { scanObject } from '../../steps/files/scan-object.js';

/** Files per call, so that tenants alternate. */
const AT_ONCE = 10;
/** No further scan is started after this time, to bound the call. */
const START_WITHIN_MS = 20_000;

/**
 * Scans files that are due: those whose first scan did not finish or failed, those found clean long ago or with other
 * signatures, and those skipped while there was no scanner.
 */
export const scanFiles = multiStepOperation({
  effect: 'write',
  input: s.object({}),
  output: s.object({ scanned: s.integer(), more: s.flag() }),
  fails: ['OBJECT_STORE_UNAVAILABLE'],
  async perform(work, call) {
    const { files, clock, read, upkeep, signal } = work;
    if (!files.policy.scans) return { scanned: 0, more: false };
    const version = await files.scanner.version();
    // No scan is started without an answer, or by a scanner that is not trusted.
    if (!version || !mayScan(await files.scanner.trust())) return { scanned: 0, more: false };
    const waiting = await read(({ store }) => store.files.toScan(clock.now(), AT_ONCE));
    if (waiting.length < AT_ONCE)
      await upkeep(({ store }) =>
        store.files.makeDue({
          signatures: version.signatures,
          before: clock.now() - LOOKED_AT_MS,
          now: clock.now(),
          limit: AT_ONCE - waiting.length,
        }),
      );
    const due = await read(({ store }) => store.files.toScan(clock.now(), AT_ONCE));
    const begunAt = performance.now();
    let scanned = 0;
    for (const row of due) {
      if (signal.aborted || performance.now() - begunAt > START_WITHIN_MS) return { scanned, more: true };
      if (!(await upkeep(({ store }) => store.files.claimScan(row, clock.now() + SCAN_LEASE_MS)))) continue;
      const finding = await scanObject(files, row, AbortSignal.timeout(SCAN_LEASE_MS));
      await recordScan(work, call, { row, finding, signatures: version.signatures });
      // It has stopped since: the files wait until it is back.
      if (finding.status === 'error' && finding.isUnsent === true) return { scanned, more: false };
      scanned += 1;
    }
    return { scanned, more: due.length === AT_ONCE };
  },
});
