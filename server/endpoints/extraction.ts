import { ExtractInput, ExtractionRun, ReviewInput } from '../../data-plane-agent/plane/contract/records/extraction.js';
import { edit } from '../access/permissions.js';
import { extractionIssues } from '../data-planes/body-issues.js';
import { endpoint } from '../http/endpoint.js';
import { checkRoleCodes } from './config-references.js';
import { peopleOf } from './people.js';

const extractContract = endpoint('POST /contracts/extract', {
  summary: 'Extract contract data from a text or a file',
  description:
    'Send exactly one of `text` and `fileRef`. `fileRef` is a confirmed file that was scanned as clean (or was not scanned, if scanning is off): PDF, DOCX, XLSX, CSV, text, or an image (PNG, JPEG, WebP, HEIC, TIFF of one page or more). The limit is fifty images, which includes the pages of a scanned PDF. A file is processed after the answer: the run is `processing`, and `GET /contracts/extractions/:runId` reports when it is `needs_review`, or `failed` with the reason in `warnings`. Rules for English and Chinese read labelled values, tables, staged payments and running text; each field has its location in the text, a confidence, and at most three candidate values. ' +
    'Values are never invented: fields that a paper may state and that were not found are listed in `missingFields`, and a share of the total (30 %) becomes an amount only if the total was found. Shares without amounts (`30% upon signing, 60% within 30 days after delivery, 10% by 31 December 2026`) become payment lines if they add up to the whole. A line has a `dueDate` only if the text states the date; its `period` is the name of the instalment (`二期款`) or the condition as written (`within 30 days after delivery`). `paymentMethod` is the means of payment in the payment terms (`T/T`); if the terms name none and describe a plan, it is their full text, with low confidence. On pages read from images, no field has a higher confidence than the text recognition. If the text does not name its parties A and B (甲方, 乙方), the buyer or lessee is `partyA` and the seller or lessor `partyB`; bank and account are those of the party that is paid. ' +
    'Cross-checks are reported as `warnings`: `TOTAL_MISMATCH`, `CAPITAL_AMOUNT_MISMATCH`, `DATES_REVERSED`, `INSTALMENTS_MISMATCH` (also if shares without amounts do not add up to the whole; no lines are read from them then). `OTHER_DOCUMENT`: according to its title or form the document is an invoice, an offer, a letter, minutes, or another document that is neither a sale nor a lease; only parties, project and contract number are kept, all with low confidence. Nothing is written to a contract before a review requests it. ' +
    'The text is not stored, only the words that the values are based on; a run that was never applied is deleted 90 days after its last review. A run without `contractId` is visible to the member who created it and to administrators who see all contracts.',
  needs: edit('contract_edit'),
  body: ExtractInput,
  furtherIssues: extractionIssues,
  status: 201,
  returns: ExtractionRun,
  calls: ['extractContract'],
  fails: [],
  run: ({ body, plane }) => plane.extractContract(body),
});

const getExtraction = endpoint('GET /contracts/extractions/:runId', {
  summary: 'Read an extraction with its reviews',
  description:
    'Poll until `status` is no longer `processing`: documents are processed one at a time, alternating between organisations, mostly within seconds, a scan of many pages within two minutes. If the process ends or the object store is unavailable, the run stays `processing` and is retried, for one day at most. ' +
    'A `failed` run has one reason in its `warnings`: `DOCUMENT_ENCRYPTED` (a password is required), `DOCUMENT_DAMAGED`, `DOCUMENT_UNSUPPORTED` (an unsupported format), `DOCUMENT_EMPTY`, `DOCUMENT_TOO_LARGE`, `DOCUMENT_TOO_SLOW`, `DOCUMENT_UNREADABLE`, `FILE_INFECTED`, `FILE_GONE`, `OBJECT_STORE_UNAVAILABLE`; it can still be reviewed by overriding fields. ' +
    'For a document that was read, `warnings` report omitted or uncertain content: `RECOGNISED` and `LOW_RECOGNITION` (text from images), `PAGES_LEFT_OUT`, `PAGE_UNREADABLE`, `TEXT_CUT`, `HIDDEN_CONTENT`, `ENCODING_GUESSED`. ' +
    "A field's `location` is a position in the document's text: the page or, in a workbook, the sheet. Account numbers are masked for roles without `sensitive_data (view)`.",
  needs: edit('contract_edit'),
  returns: ExtractionRun,
  calls: ['getExtraction'],
  fails: [],
  run: ({ params, plane }) => plane.getExtraction(params),
});

const reviewExtraction = endpoint('PATCH /contracts/extractions/:runId/review', {
  summary: 'Review extracted fields, and write them to the contract',
  description:
    'A run that is `processing` cannot be reviewed (`INVALID_TRANSITION`). A run can be reviewed many times: for each field the last review applies, and every call is stored with its `metadata`. Any contract field may be overridden, whether it was found or not; values are validated as in `PATCH /contracts/:id`. ' +
    "`applyToContract` writes all fields accepted or overridden in this and earlier reviews, in one transaction, with the rules of `PATCH /contracts/:id`: `payments` is the complete plan, `terms` replace the present ones. `If-Match` refers to the contract's version. " +
    "A run without a contract creates a draft: `ownerId` defaults to the caller, `subjectId` to the only subject company in the caller's scope; missing fields are listed by `EXTRACTION_INCOMPLETE`. " +
    'On a plan with `workflowAutomation` the draft is then moved by `mark_extracted`; the warning `NOT_MARKED_EXTRACTED` reports that the lifecycle does not allow this to the caller. If applying is refused, the review is not stored either.',
  needs: edit('contract_edit'),
  body: ReviewInput,
  returns: ExtractionRun,
  calls: ['getExtraction', 'reviewExtraction'],
  fails: [],
  run: async ({ params, body, plane, principal, services }) => {
    for (const [i, { fieldKey, overrideValue }] of body.fields.entries()) {
      // A value that is not a list of strings is refused by the schema of the field.
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

/** Fields that refer to a member or a subject company. */
const NAMING: ReadonlySet<string> = new Set(['subjectId', 'ownerId', 'ownerSuperiorId']);

export const extractionEndpoints = { extractContract, getExtraction, reviewExtraction };
