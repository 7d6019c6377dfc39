import { moneyText, sumToMajor } from '../../../base/money.js';

/** A bank transfer with the number of its lines and what they have received by it, by currency. */
export interface SharedTransfer {
  readonly bankSerialNo: string;
  readonly lines: number;
  readonly received: readonly {
    readonly currencyCode: string;
    readonly receivedAmount: number;
    readonly text: string;
  }[];
}

export const sharedTransfer = (
  bankSerialNo: string,
  figures: readonly { readonly currencyCode: string; readonly lines: number; readonly received: bigint }[],
): SharedTransfer => ({
  bankSerialNo,
  lines: figures.reduce((count, { lines }) => count + lines, 0),
  received: figures.map(({ currencyCode, received }) => ({
    currencyCode,
    receivedAmount: sumToMajor(received, currencyCode),
    text: moneyText(received, currencyCode),
  })),
});

/** The sum of one transfer in words; several transfers have their sums in the details only. */
export function reusedMessage([transfer, ...more]: readonly SharedTransfer[]): { message?: string } {
  if (!transfer || more.length > 0) return {};
  const { bankSerialNo, lines, received } = transfer;
  return {
    message: `${lines} payment lines have received ${received.map(({ text }) => text).join(' and ')} by bank transfer ${bankSerialNo.slice(0, 100)}.`,
  };
}
