import { AuditEntry, AuditFilter } from '../../../base/audit/records.js';
import { s, type Static } from '../../../base/schema.js';
import { page, pageQuery } from './common.js';

export const AuditPage = page(AuditEntry, { title: 'AuditPage' });
export type AuditPage = Static<typeof AuditPage>;

export const AuditListQuery = s.object({ ...pageQuery, ...AuditFilter.properties });
