import Type from 'typebox';
import { s, type Static } from '../../../base/schema.js';
import { stamps, warnings } from './common.js';

export const RUN_STATUSES = ['processing', 'needs_review', 'reviewed', 'applied', 'failed'] as const;
export const REVIEW_STATUSES = ['accepted', 'overridden', 'rejected'] as const;
export const BANDS = ['high', 'medium', 'low'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];
export type ReviewStatus = (typeof REVIEW_STATUSES)[number];

/** How long a text may be, in characters. */
export const MAX_TEXT = 200_000;
/** How many fields one review may name, and one run may have. */
export const MAX_FIELDS = 20_000;
/** Of a run's reviews, so many are shown. */
export const SHOWN_REVIEWS = 100;

export const ExtractInput = s.object(
  {
    contractId: s.optional(s.id('The contract that the reading is for; without it a review may make a new one.')),
    fileRef: s.optional(s.id('File reference.')),
    fileName: s.optional(s.name({ max: 255 })),
    text: s.optional(s.document({ max: MAX_TEXT, about: 'The contract as text. Pages are parted by form feeds.' })),
  },
  { title: 'ExtractInput' },
);
export type ExtractInput = Static<typeof ExtractInput>;

const anything = (about: string) => Type.Unsafe<unknown>({ description: about });
const confidence = () => s.number({ min: 0, max: 1, about: 'From 0 to 1, two decimals.' });
const location = s.object(
  { page: s.integer({ min: 1 }), start: s.integer(), end: s.integer() },
  {
    title: 'TextLocation',
    about:
      'The page from 1, and UTF-16 places in the text as it was sent, of a file in the text that was read from it; `end` is exclusive.',
  },
);

const Candidate = s.object(
  {
    value: anything("As the contract's field takes it."),
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
    value: anything("As the contract's field takes it; null of a field that was not found and only reviewed."),
    rawText: s.nullable(s.text({ min: 0, about: 'What stands there, at most 500 characters of it.' })),
    confidence: confidence(),
    band: s.enum(BANDS, 'high from 0.90, medium from 0.60.'),
    location: s.nullable(location),
    candidates: s.list(Candidate, 3, "The readings that were found, the surest first: it is the field's own."),
    reviewStatus: s.enum(['pending', ...REVIEW_STATUSES] as const),
    overrideValue: anything('What the review put in place of the value; null where it did not.'),
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
    fields: s.list(s.object({ fieldKey: s.text({ max: 100 }), status: s.enum(REVIEW_STATUSES) }), MAX_FIELDS),
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
    missingFields: s.list(s.text({ max: 100 }), 100, 'Fields of contracts of which nothing was found.'),
    warnings,
    reviews: s.list(Review, SHOWN_REVIEWS, `Who reviewed it, the latest ${SHOWN_REVIEWS} times, newest first.`),
    createdBy: s.nullable(s.id()),
    ...stamps,
  },
  { title: 'ExtractionRun' },
);
export type ExtractionRun = Static<typeof ExtractionRun>;

const FieldReview = s.object(
  {
    fieldKey: s.text({ max: 100 }),
    status: s.enum(REVIEW_STATUSES),
    // Which kind it must be is its field's to say.
    overrideValue: Type.Optional(
      Type.Unsafe<unknown>({
        'x-verbatim': true,
        type: ['string', 'number', 'boolean', 'array', 'object', 'null'],
        description: 'Only with `overridden`, which needs it: checked as `PATCH /contracts/:id` checks the field.',
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
        'Writes what was accepted and overridden, in this review and before, to the contract: all of it or nothing.',
      ),
    ),
    metadata: s.optional(s.free('Kept with the review.')),
  },
  { title: 'ExtractionReviewInput' },
);
export type ReviewInput = Static<typeof ReviewInput>;
