import type { Warning } from '../../../data-plane-agent/plane/contract/records/common.js';

/** Tells where the successor would have become his own superior. */
export function standInWarnings({ superiorsReplaced, superiorsCleared }: { superiorsReplaced: number; superiorsCleared: number }): Warning[] {
  return [
    ...(superiorsReplaced > 0 ? [{ code: 'SUPERIOR_REPLACED', message: `The successor would be his own superior on ${contracts(superiorsReplaced)}: his own superior stands in.` }] : []),
    ...(superiorsCleared > 0 ? [{ code: 'SUPERIOR_CLEARED', message: `The successor would be his own superior on ${contracts(superiorsCleared)}, and has none himself: no superior is named there any more.` }] : []),
  ];
}

const contracts = (count: number): string => (count === 1 ? '1 contract' : `${count} contracts`);
