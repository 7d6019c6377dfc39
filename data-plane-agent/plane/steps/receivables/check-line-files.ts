import type { PaymentLinePatch } from '../../contract/records/lines.js';
import type { Store } from '../../store/store.js';

/** Refuses references of a line to missing files. `path` is the prefix of their names. */
export async function checkLineFiles(
  store: Store,
  line: Pick<PaymentLinePatch, 'proof' | 'invoiceAttachment'>,
  path = '',
): Promise<void> {
  await store.files.check(`${path}proof`, line.proof);
  await store.files.check(`${path}invoiceAttachment`, line.invoiceAttachment);
}
