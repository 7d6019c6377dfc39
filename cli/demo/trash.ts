import type { DemoContract } from './book.js';
import { planeOf, type Desk } from './desk.js';
import { TEXTS } from './texts.js';

/** Two contracts that were entered twice: the second ones were found and are in the trash. */
export async function enterTrash(book: readonly DemoContract[], present: ReadonlyMap<string, string>, desk: Desk): Promise<void> {
  const deleted = new Set((await planeOf(desk, 'lin').listTrash({ pageSize: 200 })).items.map(({ contractNo }) => contractNo));
  for (const { input, lines, subject, owner, superior } of enteredTwice(book)) {
    const contractNo = `${input.contractNo}-2`;
    if (deleted.has(contractNo)) continue;
    const contractId =
      present.get(contractNo) ??
      (
        await planeOf(desk, owner).createContract({
          ...input,
          contractNo,
          archiveCode: `${input.archiveCode}-2`,
          remark: TEXTS[subject.language].twice,
          subjectId: desk.ids.subject(subject.key),
          ownerId: desk.ids.member(owner),
          ownerSuperiorId: superior === null ? null : desk.ids.member(superior),
          payments: lines.map((line) => line.input),
        })
      ).id;
    await planeOf(desk, superior ?? 'novak').deleteContract({ contractId });
  }
}

const enteredTwice = (book: readonly DemoContract[]): DemoContract[] => (['china', 'europe'] as const).flatMap((key) => book.filter(({ subject, stage }) => subject.key === key && stage === 'draft').slice(0, 1));
