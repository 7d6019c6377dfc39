import { warn } from '../../../base/warnings.js';
import type { Warning } from '../../contract/records/common.js';
import { NAMED_LINES } from '../../domain/payments/line-warnings.js';
import { reusedMessage, sharedTransfer, type SharedTransfer } from '../../domain/payments/transfers.js';
import type { LineRow } from '../../tables/payment-lines.js';
import type { OperationContext } from '../operation-context.js';

type Transferred = Pick<LineRow, 'id' | 'bankSerialNo'>;

/** The largest number of transfers that a warning describes. */
const NAMED_TRANSFERS = 20;

/**
 * For each line with a bank transfer: at most `each` other lines of the same transfer, as `TransferStore` finds
 * them. Lines without such others are left out.
 */
export async function sharedTransfers(
  { store }: Pick<OperationContext, 'store'>,
  lines: readonly Transferred[],
  each: number,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = Map.groupBy(
    await store.transfers.linesOf(serialsOf(lines), each + 1),
    ({ bankSerialNo }) => bankSerialNo,
  );
  const shared = lines.map(
    ({ id, bankSerialNo }) =>
      [
        id,
        (found.get(bankSerialNo ?? '') ?? [])
          .filter((line) => line.id !== id)
          .slice(0, each)
          .map((line) => line.id),
      ] as const,
  );
  return new Map(shared.filter(([, others]) => others.length > 0));
}

/** The bank transfers of these lines by number, with their lines in scope and what these have received by them. */
export async function transfersOf(
  { store }: Pick<OperationContext, 'store'>,
  lines: readonly Transferred[],
): Promise<ReadonlyMap<string, SharedTransfer>> {
  const figures = await store.transfers.figuresOf(serialsOf(lines));
  return new Map(
    [...Map.groupBy(figures, ({ bankSerialNo }) => bankSerialNo)].map(([bankSerialNo, ofOne]) => [
      bankSerialNo,
      sharedTransfer(bankSerialNo, ofOne),
    ]),
  );
}

/** The warning for these lines; none when they name no transfer that paid `others`. */
export function reusedWarning(
  lines: readonly Transferred[],
  { others, transfers }: { others: readonly string[]; transfers: ReadonlyMap<string, SharedTransfer> },
): Warning[] {
  if (others.length === 0) return [];
  const named = serialsOf(lines)
    .flatMap((serial) => transfers.get(serial) ?? [])
    .slice(0, NAMED_TRANSFERS);
  return [
    warn('BANK_SERIAL_REUSED', { ...reusedMessage(named), paymentIds: [...others], transfers: named.map(asShown) }),
  ];
}

/**
 * The warning for lines that were written together, with at most `atMost` of the other lines. `except` are lines that
 * do not count as others.
 */
export async function reusedTransfers(
  context: Pick<OperationContext, 'store'>,
  lines: readonly Transferred[],
  { atMost = NAMED_LINES, except = new Set() }: { atMost?: number; except?: ReadonlySet<string> } = {},
): Promise<Warning[]> {
  const shared = await sharedTransfers(context, lines, NAMED_LINES);
  const sharing = lines.filter(({ id }) => shared.get(id)?.some((other) => !except.has(other)));
  const others = new Set(sharing.flatMap(({ id }) => shared.get(id) ?? []).filter((id) => !except.has(id)));
  if (others.size === 0) return [];
  return reusedWarning(sharing, {
    others: [...others].slice(0, atMost),
    transfers: await transfersOf(context, sharing),
  });
}

const asShown = ({ bankSerialNo, lines, received }: SharedTransfer) => ({
  bankSerialNo,
  lines,
  received: received.map(({ currencyCode, receivedAmount }) => ({ currencyCode, receivedAmount })),
});

const serialsOf = (lines: readonly Transferred[]): string[] => [
  ...new Set(lines.flatMap(({ bankSerialNo }) => bankSerialNo ?? [])),
];
