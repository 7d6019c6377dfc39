import { fail, invalid } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { ExtractionRun, ReviewInput } from '../../contract/records/extraction.js';
import { People } from '../../contract/records/people.js';
import { checkedReviews, chosenValues, reviewed, type CheckedReview } from '../../domain/extraction/review.js';
import type { ContractRow } from '../../tables/contracts.js';
import { operation } from '../../steps/operation-context.js';
import { applyRun } from '../../steps/extraction/apply-run.js';
import { checkPeople, NAMING } from '../../domain/extraction/check-people.js';
import { answerOf } from '../../steps/extraction/run-answer.js';

const NO_PEOPLE: People = { members: [], subjects: [] };

/**
 * Records reviews of a run's fields, of which the latest per field counts, and applies them to the contract on request:
 * all or none.
 */
export const reviewExtraction = operation({
  effect: 'write',
  // The control plane adds the known people when the review names people or is applied to a contract.
  input: s.object({ runId: s.id(), ...ReviewInput.properties, people: s.omittable(People) }),
  output: ExtractionRun,
  fails: [
    'EXTRACTION_INCOMPLETE',
    'VERSION_MISMATCH',
    'CONTRACT_LOCKED',
    'CURRENCY_FIXED',
    'INVALID_TRANSITION',
    'DUPLICATE_CONTRACT_NO',
    'DUPLICATE_ARCHIVE_CODE',
    'REFERENCE_INVALID',
    'FILE_REFERENCE_INVALID',
    'FIELD_NOT_EDITABLE',
    'LINE_HAS_MONEY',
    'RECONCILE_WITHOUT_RECEIPT',
    'RED_LETTER_EXCEEDS_ISSUED',
    'DUPLICATE_CODE',
    'LIMIT_REACHED',
    'WORKFLOW_CONTROL_REQUIRED',
    'FORBIDDEN',
  ],
  async run(context, call, { runId, fields, applyToContract, metadata, people = NO_PEOPLE }) {
    const { store, clock, newId } = context;
    const { reviews, issues } = checkedReviews(fields);
    if (issues.length > 0) throw invalid(...issues);
    const before = await store.extractions.find(runId, { forUpdate: true });
    if (!before) throw fail('NOT_FOUND', {});
    if (before.status === 'processing')
      throw fail('INVALID_TRANSITION', { field: 'status', from: 'processing', to: 'reviewed', allowed: [] });
    const contract = before.contractId === null ? undefined : await store.contracts.find(before.contractId);
    const standing = await store.extractions.fieldReviews(before.id);
    const now = clock.now();
    const currencyCode = contract?.currencyCode ?? foundCurrency(before.fields) ?? call.currencyCode;
    const fresh = reviewed(reviews, { row: before, present: standing, currencyCode }, { actorId: call.actor.id, now });
    refuseUnknown(reviews, people, contract);
    for (const { path, fileRef } of filesOf(reviews))
      if (fileRef !== contract?.contractAttachment) await store.files.check(path, fileRef);

    await store.extractions.putFieldReviews([...fresh.values()]);
    await store.extractions.insertReview({
      id: newId(),
      runId: before.id,
      fields,
      metadata: metadata ?? null,
      applied: applyToContract === true,
      actorId: call.actor.id,
      actorName: call.actor.name,
      createdAt: now,
    });
    const values = chosenValues(before, new Map([...standing, ...fresh]));
    const applied =
      applyToContract === true ? await applyRun(context, call, { run: before, values, people }) : undefined;
    const after = {
      ...before,
      contractId: applied?.contractId ?? before.contractId,
      status: applied ? ('applied' as const) : ('reviewed' as const),
      updatedAt: now,
    };
    await store.extractions.update(
      before,
      after,
      Object.fromEntries(reviews.map(({ fieldKey, status }) => [fieldKey, status])),
    );
    return answerOf(context, call, { row: after, warnings: applied?.warnings });
  },
});

const foundCurrency = (
  fields: readonly { readonly fieldKey: string; readonly value: unknown }[],
): string | undefined => {
  const found = fields.find(({ fieldKey }) => fieldKey === 'currencyCode')?.value;
  return typeof found === 'string' ? found : undefined;
};

const FILE_FIELDS = ['contractAttachment', 'proof', 'invoiceAttachment'];

/** The files in overriding values, of a file field or within lines. */
function filesOf(reviews: readonly CheckedReview[]): { readonly path: string; readonly fileRef: string }[] {
  return reviews.flatMap(({ fieldKey, overrideValue, path }) => {
    const at = `${path}.overrideValue`;
    if (fieldKey === 'payments' && Array.isArray(overrideValue))
      return overrideValue.flatMap((line: object, i) =>
        Object.entries(line).flatMap(([name, value]) =>
          FILE_FIELDS.includes(name) && typeof value === 'string'
            ? [{ path: `${at}[${i}].${name}`, fileRef: value }]
            : [],
        ),
      );
    return FILE_FIELDS.includes(fieldKey.replace(/^.*\./, '')) && typeof overrideValue === 'string'
      ? [{ path: at, fileRef: overrideValue }]
      : [];
  });
}

/** People in overriding values must exist at the review, and again when it is applied. */
function refuseUnknown(reviews: readonly CheckedReview[], people: People, contract: ContractRow | undefined): void {
  for (const { fieldKey, overrideValue, path } of reviews) {
    if ((NAMING as readonly string[]).includes(fieldKey))
      checkPeople({ [fieldKey]: overrideValue }, people, { present: contract, path: () => `${path}.overrideValue` });
  }
}
