import { s, type Static } from '../../../base/schema.js';
import { page, pageQuery } from './common.js';
import { contractProperties } from './contracts.js';

export const trashedProperties = {
  ...contractProperties,
  deletedAt: s.instant(),
  deletedBy: s.nullable(s.id('`null` if a job deleted it.')),
  restorableUntil: s.instant(),
};
export const TrashedContract = s.object(trashedProperties);
export type TrashedContract = Static<typeof TrashedContract>;

export const TrashPage = page(TrashedContract);
export const TrashQuery = s.object({ ...pageQuery });
