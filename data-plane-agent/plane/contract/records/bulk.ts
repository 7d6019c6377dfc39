import Type from 'typebox';
import { s, type Static } from '../../../base/schema.js';

/** The maximum number of contracts in one request. */
export const MAX_BULK = 1_000;

const ids = Type.Array(s.id(), { minItems: 1, maxItems: MAX_BULK, description: 'Duplicates are counted once.' });
const notFound = s.list(
  s.text({ max: 100 }),
  MAX_BULK,
  'Ids that match no contract visible to the caller, in the order in which they were sent.',
);

export const BulkDeletion = s.object({ ids }, { title: 'BulkDeletion' });
export type BulkDeletion = Static<typeof BulkDeletion>;
export const BulkDeletionResult = s.object(
  {
    deleted: s.integer({ about: 'The number of contracts moved to the trash.' }),
    notFound,
    blocked: s.list(
      s.object({ id: s.id(), code: s.enum(['CONTRACT_HAS_MONEY'] as const) }),
      MAX_BULK,
      'Contracts that were not deleted, each with the error code of a single deletion.',
    ),
  },
  { title: 'BulkDeletionResult' },
);

export const BulkAttachment = s.object(
  { ids, contractAttachment: s.id('File reference.') },
  { title: 'BulkAttachment' },
);
export type BulkAttachment = Static<typeof BulkAttachment>;
export const BulkAttachmentResult = s.object(
  {
    updated: s.integer({
      about: 'The number of contracts that now have the file, including those that already had it.',
    }),
    notFound,
  },
  { title: 'BulkAttachmentResult' },
);
