import type { PaymentLinePatch } from '../../contract/records/lines.js';
import type { Store } from '../../store/store.js';

type Line = Pick<PaymentLinePatch, 'proof' | 'invoiceAttachment'>;

/** Refuses references of new lines to missing files. */
export async function checkFilesOfLines(store: Store, lines: readonly Line[]): Promise<void> {
  for (const [i, line] of lines.entries())
    if ((line.proof ?? line.invoiceAttachment ?? null) !== null) await checkLineFiles(store, line, `payments[${i}].`);
}

/** Refuses references of a line to missing files. `path` is the prefix of their names. */
export async function checkLineFiles(store: Store, line: Line, path = ''): Promise<void> {
  await store.files.check(`${path}proof`, line.proof);
  await store.files.check(`${path}invoiceAttachment`, line.invoiceAttachment);
}
