import { ExtractInput, ExtractionRun, ReviewInput } from '../../data-plane-agent/plane/contract/records/extraction.js';
import { edit } from '../access/permissions.js';
import { judgeExtraction } from '../data-planes/judged-bodies.js';
import { endpoint } from '../http/endpoint.js';
import { checkRoleCodes } from './config-references.js';
import { peopleOf } from './people.js';

const extractContract = endpoint('POST /contracts/extract', {
  summary: 'Read a contract from its text or a file',
  description:
    'Exactly one of `text` and `fileRef`: a confirmed file that was found clean (or was never scanned, where scanning is off): PDF, DOCX, XLSX, CSV, text, or a picture (PNG, JPEG, WebP, HEIC, TIFF of one page or more), as which the pages of a scanned PDF count too, up to fifty. A file is read after the answer: the run is `processing`, and `GET /contracts/extractions/:runId` tells when it is `needs_review`, or `failed` with the reason in `warnings`. Rules for English and Chinese read labelled values, tables, staged payments and running text; each field says where in the text it stands and how sure it is, with at most three readings. ' +
    'Nothing is made up: what was not found is in `missingFields`, and a share of the total (30 %) becomes an amount only where the total was found. Bare shares (`30% upon signing, 70% upon delivery`) are payment lines where they make up the whole; a line has a `dueDate` only where the text says the day. Of terms of payment, `paymentMethod` is the means that they name (`T/T`); where they name none, and are a plan, they stand there whole, with a low confidence. Of pages read from pictures no field is surer than the recognition. Sides without `Party A` and `Party B` are taken in the order seller or lessor, buyer or lessee; bank and account are those of the side that is paid. ' +
    'Cross-checks are `warnings`: `TOTAL_MISMATCH`, `CAPITAL_AMOUNT_MISMATCH`, `DATES_REVERSED`, `INSTALMENTS_MISMATCH` (also of bare shares that do not make up the whole, from which then no lines are read). `OTHER_DOCUMENT`: by its title or form this is an invoice, an offer, a letter, minutes, or another paper that is neither a sale nor a lease, of which only parties, project and contract number are kept, none of them sure. Nothing is written to a contract before a review says so. ' +
    'The text is not kept, only the words that readings rest on; a run that was never applied goes 90 days after its last review. Without `contractId` a run is seen by who made it and by administrators who see the whole book.',
  needs: edit('contract_edit'),
  body: ExtractInput,
  judge: judgeExtraction,
  needsBody: true,
  status: 201,
  returns: ExtractionRun,
  calls: ['extractContract'],
  fails: [],
  run: ({ body, plane }) => plane.extractContract(body),
});

const getExtraction = endpoint('GET /contracts/extractions/:runId', {
  summary: 'Read an extraction with its reviews',
  description:
    'To be asked for until `status` is no longer `processing`: documents are read one at a time, those of several organisations by turns, mostly within seconds, a scan of many pages within two minutes. A run whose process ends, or whose store is out of reach, stays `processing` and is taken up again, for a day at most. ' +
    'A `failed` run has one reason among its `warnings`: `DOCUMENT_ENCRYPTED` (it needs a password), `DOCUMENT_DAMAGED`, `DOCUMENT_UNSUPPORTED` (no kind that is read), `DOCUMENT_EMPTY`, `DOCUMENT_TOO_LARGE`, `DOCUMENT_TOO_SLOW`, `DOCUMENT_UNREADABLE`, `FILE_INFECTED`, `FILE_GONE`, `OBJECT_STORE_UNAVAILABLE`; it may still be reviewed by overriding fields. ' +
    'Of what was read, `warnings` say what was left out or is doubtful: `RECOGNISED` and `LOW_RECOGNITION` (from pictures), `PAGES_LEFT_OUT`, `PAGE_UNREADABLE`, `TEXT_CUT`, `HIDDEN_CONTENT`, `ENCODING_GUESSED`. ' +
    "A field's `location` is a place in the document's text: the page, of a workbook the sheet. Account numbers are masked for roles without `sensitive_data (view)`.",
  needs: edit('contract_edit'),
  returns: ExtractionRun,
  calls: ['getExtraction'],
  fails: [],
  run: ({ params, plane }) => plane.getExtraction(params),
});

const reviewExtraction = endpoint('PATCH /contracts/extractions/:runId/review', {
  summary: 'Accept, override or reject what was read, and write it to the contract',
  description:
    'A run that is still `processing` is no more than that (`INVALID_TRANSITION`). May be called many times; for each field the last review counts, and every call is kept with its `metadata`. Any field of contracts may be overridden, found or not; a value is checked as `PATCH /contracts/:id` checks it. ' +
    "`applyToContract` writes what was accepted and overridden, now and before, all of it or nothing, with the rules of `PATCH /contracts/:id`: `payments` become the plan as it should be, `terms` replace. `If-Match` names the contract's version. " +
    "A run without a contract makes a draft: `ownerId` defaults to the caller, `subjectId` to the only subject company in the caller's scope, and what lacks is named by `EXTRACTION_INCOMPLETE`. " +
    'On a plan with `workflowAutomation` a draft then moves by `mark_extracted`, or the warning `NOT_MARKED_EXTRACTED` says that the lifecycle does not let the caller. What a refusal undoes includes the review itself.',
  needs: edit('contract_edit'),
  body: ReviewInput,
  returns: ExtractionRun,
  calls: ['getExtraction', 'reviewExtraction'],
  fails: [],
  run: async ({ params, body, plane, principal, services }) => {
    for (const [i, { fieldKey, overrideValue }] of body.fields.entries()) {
      // Whatever is no list of texts is refused by its form.
      if (
        fieldKey !== 'workflowAllowedRoles' ||
        !Array.isArray(overrideValue) ||
        !overrideValue.every((code) => typeof code === 'string')
      )
        continue;
      await checkRoleCodes(`fields[${i}].overrideValue`, overrideValue, {
        principal,
        services,
        found: () => plane.getExtraction(params),
      });
    }
    const namesPeople = body.applyToContract === true || body.fields.some(({ fieldKey }) => NAMING.has(fieldKey));
    return plane.reviewExtraction({
      ...params,
      ...body,
      ...(namesPeople ? { people: await peopleOf(principal, services) } : {}),
    });
  },
});

/** Fields that name a member or a subject company. */
const NAMING: ReadonlySet<string> = new Set(['subjectId', 'ownerId', 'ownerSuperiorId']);

export const extractionEndpoints = { extractContract, getExtraction, reviewExtraction };
