import type { LineRow } from '../../tables/payment-lines.js';
import { NAMED_LINES } from '../../domain/payments/line-warnings.js';
import type { OperationContext } from '../operation-context.js';

/**
 * For each line with a bank transfer: at most `each` other live lines in scope with the same transfer. Lines without
 * such others are left out.
 */
export async function sharedTransfers(
  { store }: Pick<OperationContext, 'store'>,
  lines: readonly Pick<LineRow, 'id' | 'bankSerialNo'>[],
  each: number,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const serials = [...new Set(lines.flatMap(({ bankSerialNo }) => bankSerialNo ?? []))];
  const found = Map.groupBy(await store.lines.ofBankSerials(serials, each + 1), ({ bankSerialNo }) => bankSerialNo);
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

/** The same for several lines together, limited for one warning. */
export async function sharingAny(
  context: Pick<OperationContext, 'store'>,
  lines: readonly Pick<LineRow, 'id' | 'bankSerialNo'>[],
): Promise<string[]> {
  const shared = await sharedTransfers(context, lines, NAMED_LINES);
  return [...new Set([...shared.values()].flat())].slice(0, NAMED_LINES);
}
