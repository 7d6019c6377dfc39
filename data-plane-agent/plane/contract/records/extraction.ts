import Type from 'typebox';
import { s, type Static } from '../../../base/schema.js';
import { stamps, warnings } from './common.js';

export const RUN_STATUSES = ['processing', 'needs_review', 'reviewed', 'applied', 'failed'] as const;
export const REVIEW_STATUSES = ['accepted', 'overridden', 'rejected'] as const;
export const BANDS = ['high', 'medium', 'low'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];
export type ReviewStatus = (typeof REVIEW_STATUSES)[number];

/** The maximum length of a text, in characters. */
export const MAX_TEXT = 200_000;
/** The maximum number of fields of one review or run. */
export const MAX_FIELDS = 20_000;
/** The number of a run's reviews that a response contains. */
export const SHOWN_REVIEWS = 100;

export const ExtractInput = s.object(
  {
    contractId: s.optional(s.id('The contract to extract for; without it, a review may create a new contract.')),
    fileRef: s.optional(s.id('File reference.')),
    fileName: s.optional(s.name({ max: 255 })),
    text: s.optional(s.document({ max: MAX_TEXT, about: 'The contract as text, with form feeds between pages.' })),
  },
  { title: 'ExtractInput', oneOf: ['text', 'fileRef'] },
);
export type ExtractInput = Static<typeof ExtractInput>;

const anything = (about: string) => Type.Unsafe<unknown>({ description: about });
const confidence = () => s.number({ min: 0, max: 1, about: 'From 0 to 1, two decimals.' });
const location = s.object(
  { page: s.integer({ min: 1 }), start: s.integer(), end: s.integer() },
  {
    title: 'TextLocation',
    about:
      'The page, from 1, and UTF-16 offsets in the text as sent or, for a file, in the text read from it; `end` is exclusive.',
  },
);

const Candidate = s.object(
  {
    value: anything("In the format of the contract's field."),
    rawText: s.text({ min: 0 }),
    confidence: confidence(),
    location,
  },
  { title: 'ExtractionCandidate' },
);

const Field = s.object(
  {
    fieldKey: s.text({ max: 100, about: 'A field of contracts, `payments[n].…` or `terms[n].…`.' }),
    label: s.text(),
    value: anything("In the format of the contract's field; null for a field that was reviewed but not found."),
    rawText: s.nullable(s.text({ min: 0, about: 'The source text, at most 500 characters.' })),
    confidence: confidence(),
    band: s.enum(BANDS, 'high from 0.90, medium from 0.60.'),
    location: s.nullable(location),
    candidates: s.list(Candidate, 3, "The values found, the most likely first; the first is the field's value."),
    reviewStatus: s.namedEnum('FieldReviewStatus', ['pending', ...REVIEW_STATUSES] as const),
    overrideValue: anything('The value set by the review; null if it was not overridden.'),
    reviewedBy: s.nullable(s.id()),
    reviewedAt: s.nullable(s.instant()),
    warnings,
  },
  { title: 'ExtractionField' },
);
export type ExtractionRunField = Static<typeof Field>;

const Review = s.object(
  {
    at: s.instant(),
    by: s.nullable(s.id()),
    byName: s.text(),
    applied: s.flag(),
    fields: s.list(
      s.object({ fieldKey: s.text({ max: 100 }), status: s.namedEnum('FieldReviewDecision', REVIEW_STATUSES) }),
      MAX_FIELDS,
    ),
    metadata: s.nullable(s.free()),
  },
  { title: 'ExtractionReview' },
);

export const ExtractionRun = s.object(
  {
    id: s.id(),
    contractId: s.nullable(s.id()),
    status: s.enum(RUN_STATUSES),
    source: s.object({
      kind: s.enum(['text', 'file'] as const),
      fileId: s.nullable(s.id()),
      fileName: s.nullable(s.text({ max: 255 })),
    }),
    engine: s.object({ name: s.text({ max: 64 }), version: s.text({ max: 64 }) }),
    overallConfidence: confidence(),
    fields: s.list(Field, MAX_FIELDS),
    missingFields: s.list(
      s.text({ max: 100 }),
      100,
      'Contract fields that the paper of a contract may state and for which no value was found; not those that the organisation sets itself, such as `ownerId`, `subjectId` and `archiveCode`.',
    ),
    warnings,
    reviews: s.list(Review, SHOWN_REVIEWS, `The latest ${SHOWN_REVIEWS} reviews, newest first.`),
    createdBy: s.nullable(s.id()),
    ...stamps,
  },
  { title: 'ExtractionRun' },
);
export type ExtractionRun = Static<typeof ExtractionRun>;

const FieldReview = s.object(
  {
    fieldKey: s.text({ max: 100 }),
    status: s.namedEnum('FieldReviewDecision', REVIEW_STATUSES),
    // The type depends on the field, so it is checked later.
    overrideValue: Type.Optional(
      Type.Unsafe<unknown>({
        'x-verbatim': true,
        type: ['string', 'number', 'boolean', 'array', 'object', 'null'],
        description:
          'Required with `overridden`, otherwise not allowed; validated like the field in `PATCH /contracts/:id`.',
      }),
    ),
  },
  { title: 'ExtractionFieldReview' },
);
export type FieldReview = Static<typeof FieldReview>;

export const ReviewInput = s.object(
  {
    fields: s.list(FieldReview, MAX_FIELDS),
    applyToContract: s.optional(
      s.flag(
        'Writes all accepted and overridden values, of this and earlier reviews, to the contract: either all or none.',
      ),
    ),
    metadata: s.optional(s.free('Stored with the review.')),
  },
  { title: 'ExtractionReviewInput' },
);
export type ReviewInput = Static<typeof ReviewInput>;
