import { warn } from '../../../data-plane-agent/base/warnings.js';
import type { Warning } from '../../../data-plane-agent/plane/contract/records/common.js';

/** Returns a warning for contracts on which the successor would have become their own superior. */
export function standInWarnings({
  superiorsReplaced,
  superiorsCleared,
}: {
  superiorsReplaced: number;
  superiorsCleared: number;
}): Warning[] {
  return [
    ...(superiorsReplaced > 0
      ? [
          warn('SUPERIOR_REPLACED', {
            message: `The successor would be their own superior on ${contracts(superiorsReplaced)}, so the successor's own superior was set instead.`,
          }),
        ]
      : []),
    ...(superiorsCleared > 0
      ? [
          warn('SUPERIOR_CLEARED', {
            message: `The successor would be their own superior on ${contracts(superiorsCleared)}and has no superior, so no superior is set there.`,
          }),
        ]
      : []),
  ];
}

const contracts = (count: number): string => (count === 1 ? '1 contract' : `${count} contracts`);
