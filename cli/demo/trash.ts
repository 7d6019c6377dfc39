import type { DemoContract } from './book.js';
import { planeOf, type Desk } from './desk.js';
import { TEXTS } from './texts.js';

/**
 * Three contracts that were entered twice: the duplicates are in the trash, those of one company by a bulk deletion.
 */
export async function enterTrash(
  book: readonly DemoContract[],
  present: ReadonlyMap<string, string>,
  desk: Desk,
): Promise<void> {
  const deleted = new Set(
    (await planeOf(desk, 'lin').listTrash({ pageSize: 200 })).items.map(({ contractNo }) => contractNo),
  );
  const [single, several] = [enteredTwice(book, 'europe', 1), enteredTwice(book, 'china', 2)];
  for (const contract of single) {
    if (!deleted.has(numberOf(contract)))
      await planeOf(desk, contract.superior ?? 'novak').deleteContract({
        contractId: await enteredAgain(contract, present, desk),
      });
  }
  // They are deleted together, so checking one is enough.
  if (several.some((contract) => deleted.has(numberOf(contract)))) return;
  const ids: string[] = [];
  for (const contract of several) ids.push(await enteredAgain(contract, present, desk));
  await planeOf(desk, 'chen').bulkDeleteContracts({ ids });
}

const enteredTwice = (
  book: readonly DemoContract[],
  key: DemoContract['subject']['key'],
  howMany: number,
): DemoContract[] => book.filter(({ subject, stage }) => subject.key === key && stage === 'draft').slice(0, howMany);

const numberOf = ({ input }: DemoContract): string => `${input.contractNo}-2`;

async function enteredAgain(contract: DemoContract, present: ReadonlyMap<string, string>, desk: Desk): Promise<string> {
  const { input, lines, subject, owner, superior } = contract;
  const contractNo = numberOf(contract);
  const id = present.get(contractNo);
  if (id !== undefined) return id;
  const entered = await planeOf(desk, owner).createContract({
    ...input,
    contractNo,
    archiveCode: `${input.archiveCode}-2`,
    remark: TEXTS[subject.language].twice,
    subjectId: desk.ids.subject(subject.key),
    ownerId: desk.ids.member(owner),
    ownerSuperiorId: superior === null ? null : desk.ids.member(superior),
    payments: lines.map((line) => line.input),
  });
  return entered.id;
}
