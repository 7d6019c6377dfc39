import { valueIn } from '../../data-plane-agent/base/json-text.js';
import { demoBook, type DemoContract } from './book.js';
import { correct, restoreMistaken } from './corrections.js';
import { planeOf, planeOfJobs, type Desk, type Plane } from './desk.js';
import { enterContract } from './enter-contract.js';
import { enterFields } from './fields.js';
import { closeOutdatedType, enterTransitions, enterTypes } from './lifecycle.js';
import { importDrafts, isImported } from './import.js';
import { papersOf, readPapers, type DemoPaper } from './papers.js';
import { tendFields } from './tend-fields.js';
import { enterTrash } from './trash.js';
import { saveViews } from './views.js';

/** Contracts that are entered concurrently; their writes share commits. */
const AT_ONCE = 30;

/**
 * Enters contracts, fields, views and the rest through the operations of the data plane, oldest contract first. Records
 * of an interrupted run are found by number, name or code and completed, so none is duplicated.
 */
export async function enterBook(desk: Desk): Promise<void> {
  const book = demoBook(desk.tenant.day);
  await enterTypes(desk);
  const fields = await enterFields(desk);
  await enterTransitions(fields, desk);
  await restoreMistaken(book, desk);
  const present = await presentContracts(planeOf(desk, 'lin'));
  const papers = papersOf(book);
  const byHand = book.filter((contract) => !isImported(contract)).map((contract) => readFirst(contract, papers));
  for (let start = 0; start < byHand.length; start += AT_ONCE) {
    desk.progress(start, book.length);
    await Promise.all(
      byHand
        .slice(start, start + AT_ONCE)
        .map((contract) => enterContract(contract, present.get(contract.input.contractNo), { desk, fields })),
    );
  }
  await importDrafts(book, present, desk);
  const entered = await presentContracts(planeOf(desk, 'lin'));
  await readPapers(papers, entered, desk);
  await enterTrash(book, entered, desk);
  await correct(book, entered, desk);
  await closeOutdatedType(desk);
  await tendFields(desk);
  await saveViews(fields, desk);
  // Marks the tasks that are past their due day as overdue.
  while ((await planeOfJobs(desk).stepOverdueTasks({ limit: 500 })).isMore);
  desk.progress(book.length, book.length);
}

/** A contract that the review of its document moves out of draft gets no other moves. */
const readFirst = (contract: DemoContract, papers: readonly DemoPaper[]): DemoContract =>
  papers.some((paper) => paper.contract === contract && paper.review) ? { ...contract, acts: [] } : contract;

/** Ids of the tenant's contracts by number. */
async function presentContracts(plane: Plane): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (let page = 1, pageCount = 1; page <= pageCount; page++) {
    const answer = await plane.listContracts({ page, pageSize: 200 });
    for (const { id, json } of answer.items) ids.set(valueIn(json).contractNo, id);
    pageCount = answer.pageCount;
  }
  return ids;
}
