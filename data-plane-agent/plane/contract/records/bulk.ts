import Type from 'typebox';
import { s, type Static } from '../../../base/schema.js';

/** How many contracts one request may name. */
export const MAX_BULK = 1_000;

const ids = Type.Array(s.id(), { minItems: 1, maxItems: MAX_BULK, description: 'One that comes twice counts once.' });
const notFound = s.list(
  s.text({ max: 100 }),
  MAX_BULK,
  'Ids of no contract that the caller may see, in the order in which they were sent.',
);

export const BulkDeletion = s.object({ ids }, { title: 'BulkDeletion' });
export type BulkDeletion = Static<typeof BulkDeletion>;
export const BulkDeletionResult = s.object(
  {
    deleted: s.integer({ about: 'How many contracts went to the trash.' }),
    notFound,
    blocked: s.list(
      s.object({ id: s.id(), code: s.enum(['CONTRACT_HAS_MONEY'] as const) }),
      MAX_BULK,
      'Contracts that stay, with the code that a single deletion would be refused with.',
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
    updated: s.integer({ about: 'How many contracts have the file now; those that had it before among them.' }),
    notFound,
  },
  { title: 'BulkAttachmentResult' },
);
