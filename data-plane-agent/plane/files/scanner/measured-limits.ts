import { askToAccept, askToScan, tarOf, type Ask } from './clamd-questions.js';
import type { ClamdNeeds } from './clamd-settings.js';
import { ClamdEnded } from './clamd-stream.js';

/**
 * Measures StreamMaxLength, up to what is needed. The scanner decides by the declared length of a chunk, so that no
 * content is sent.
 */
export const measuredStream = (ask: Ask, needed: number): Promise<number> =>
  largest(needed, async (size) => !(await refuses(ask, size)));

/**
 * Measures MaxFileSize and MaxScanSize, up to what is needed. The scanner decides by the size that the header of a tar
 * archive declares, so that no content is sent. It says so only with AlertExceedsMax.
 */
export async function measuredSizes(
  ask: Ask,
  needs: Pick<ClamdNeeds, 'fileBytes' | 'scanBytes'>,
): Promise<Pick<ClamdNeeds, 'fileBytes' | 'scanBytes'>> {
  const answers = (limits: RegExp) => async (size: number) => !limits.test(await askToScan(ask, tarOf(size)));
  return {
    fileBytes: await largest(needs.fileBytes, answers(/Heuristics\.Limits\.Exceeded\./)),
    scanBytes: await largest(needs.scanBytes, answers(/Heuristics\.Limits\.Exceeded\.MaxScanSize/)),
  };
}

/** The largest size up to `needed` that is accepted, given that all below it are. */
async function largest(needed: number, accepts: (size: number) => Promise<boolean>): Promise<number> {
  if (await accepts(needed)) return needed;
  let [accepted, refused] = [0, needed];
  while (refused - accepted > 1) {
    const middle = Math.floor((accepted + refused) / 2);
    if (await accepts(middle)) accepted = middle;
    else refused = middle;
  }
  return accepted;
}

/** Whether the scanner refuses content of this length. If not, it waits until the connection is closed. */
export async function refuses(ask: Ask, sizeBytes: number): Promise<boolean> {
  const answer = await askToAccept(ask, sizeBytes).catch((error: unknown) => {
    if (error instanceof ClamdEnded) return '';
    throw error;
  });
  return /size limit exceeded/i.test(answer);
}
