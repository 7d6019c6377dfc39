import type { MemberRecord } from '../store/members.js';
import type { TenantRecord } from '../store/tenants.js';

/** The one decision whether a session may be issued, or go on, for this member, whatever the way in. */
export const mayIssueSession = ({ tenant, member }: Standing): boolean => tenant.status === 'active' && member.status === 'active';

export interface Standing {
  readonly tenant: Pick<TenantRecord, 'status'>;
  readonly member: Pick<MemberRecord, 'status'>;
}
