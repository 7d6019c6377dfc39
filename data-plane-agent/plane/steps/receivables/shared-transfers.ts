import type { LineRow } from '../../tables/payment-lines.js';
import { NAMED_LINES } from '../../domain/payments/line-warnings.js';
import type { OperationContext } from '../operation-context.js';

/**
 * Of lines that name a bank transfer: the other live lines in scope that name the same one, at most `each`. A line that
 * is alone with it is not there.
 */
export async function sharedTransfers(
  { store }: Pick<OperationContext, 'store'>,
  naming: readonly Pick<LineRow, 'id' | 'bankSerialNo'>[],
  each: number,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const serials = [...new Set(naming.flatMap(({ bankSerialNo }) => bankSerialNo ?? []))];
  const found = Map.groupBy(await store.lines.ofBankSerials(serials, each + 1), ({ bankSerialNo }) => bankSerialNo);
  const shared = naming.map(
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

/** The same of several lines together, as a warning names them. */
export async function sharingAny(
  context: Pick<OperationContext, 'store'>,
  naming: readonly Pick<LineRow, 'id' | 'bankSerialNo'>[],
): Promise<string[]> {
  const shared = await sharedTransfers(context, naming, NAMED_LINES);
  return [...new Set([...shared.values()].flat())].slice(0, NAMED_LINES);
}
