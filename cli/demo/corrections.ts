import { addDays } from '../../data-plane-agent/base/day.js';
import type { DemoContract } from './book.js';
import { planeOf, type Desk } from './desk.js';

/**
 * Corrects contracts that were entered before: a plan, a note, a term, a line, a deletion. Each correction is made once
 * and skipped when it was made already.
 */
export async function correct(
  book: readonly DemoContract[],
  present: ReadonlyMap<string, string>,
  desk: Desk,
): Promise<void> {
  const { postponed, annotated, mistaken } = corrected(book);
  const idOf = ({ input }: DemoContract): string => {
    const id = present.get(input.contractNo);
    if (id === undefined) throw new Error(`${input.contractNo} is entered before it is corrected`);
    return id;
  };
  if (postponed) {
    await postpone(postponed, idOf(postponed), desk);
    await changeTerms(postponed, idOf(postponed), desk);
    await addLineByMistake(postponed, idOf(postponed), desk);
  }
  if (annotated) await amendNote(annotated, idOf(annotated), desk);
  if (mistaken) await deleteByMistake(mistaken, idOf(mistaken), desk);
}

/** Restores the contract that was deleted by mistake, before the demo looks up existing contracts. */
export async function restoreMistaken(book: readonly DemoContract[], desk: Desk): Promise<void> {
  const { mistaken } = corrected(book);
  const plane = planeOf(desk, 'novak');
  const deleted = (await plane.listTrash({ pageSize: 200 })).items.find(
    ({ contractNo }) => contractNo === mistaken?.input.contractNo,
  );
  if (deleted) await plane.restoreContract({ contractId: deleted.id });
}

function corrected(book: readonly DemoContract[]) {
  const [, postponed, mistaken] = book.filter(
    ({ stage, subject, input }) => stage === 'draft' && subject.key === 'china' && input.type === 'lease',
  );
  return {
    postponed,
    mistaken,
    annotated: book.find(
      ({ stage, subject, input, notes }) =>
        stage === 'active' &&
        subject.key === 'europe' &&
        input.type === 'sale' &&
        notes.some(({ by }) => by === 'hoffmann'),
    ),
  };
}

/** Postpones the due dates of a plan and restricts the roles that may move the contract. */
async function postpone({ lines }: DemoContract, contractId: string, desk: Desk): Promise<void> {
  // Setting the allowed roles requires the control `approve`, which the manager has.
  const plane = planeOf(desk, 'chen');
  // Sent only once: a second request would remove lines that were added since.
  if ((await plane.getContract({ contractId })).workflowAllowedRoles.length > 0) return;
  const payments = lines.map(({ input }) => ({ ...input, dueDate: addDays(input.dueDate, 10) }));
  await plane.updateContract({
    contractId,
    changes: { payments, workflowAllowedRoles: ['owner', 'admin', 'manager', 'sales'] },
  });
}

const MORE = ' Confirmed in writing.';

async function amendNote({ notes }: DemoContract, contractId: string, desk: Desk): Promise<void> {
  const said = notes.find(({ by }) => by === 'hoffmann');
  const plane = planeOf(desk, 'hoffmann');
  const note = (await plane.getContract({ contractId })).notes.find(({ label }) => label === said?.note.label);
  if (note && !note.value.endsWith(MORE))
    await plane.updateNote({ contractId, noteId: note.id, value: `${note.value}${MORE}` });
}

/** Changes the end date in one term and deletes the term on late payment. */
async function changeTerms({ owner, input }: DemoContract, contractId: string, desk: Desk): Promise<void> {
  const plane = planeOf(desk, owner);
  for (const { id, kind, date } of (await plane.getContract({ contractId })).terms) {
    if (kind === 'payment') await plane.deleteTerm({ contractId, termId: id });
    if (kind === 'expiry' && date !== input.endDate)
      await plane.updateTerm({ contractId, termId: id, date: input.endDate });
  }
}

const FREIGHT = '运费';

/** Adds a payment line and deletes it again, so that the history has both. */
async function addLineByMistake({ bookkeeper, input }: DemoContract, contractId: string, desk: Desk): Promise<void> {
  const plane = planeOf(desk, bookkeeper);
  const { items } = await plane.listPayments({ tab: 'all', contractId, includeDeleted: true, pageSize: 200 });
  const present = (await plane.getContract({ contractId })).payments.find(({ period }) => period === FREIGHT);
  if (!present && items.some(({ period }) => period === FREIGHT)) return;
  const line =
    present ?? (await plane.addPaymentLine({ contractId, period: FREIGHT, dueDate: input.endDate, amount: 3_800 }));
  await plane.deletePaymentLine({ paymentId: line.id });
}

async function deleteByMistake({ superior }: DemoContract, contractId: string, desk: Desk): Promise<void> {
  const plane = planeOf(desk, superior ?? 'novak');
  const { items } = await plane.listHistory({ contractId, pageSize: 200 });
  if (items.some(({ action }) => action === 'restoreContract')) return;
  await plane.deleteContract({ contractId });
  await planeOf(desk, 'novak').restoreContract({ contractId });
}
