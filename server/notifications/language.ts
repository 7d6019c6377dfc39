import type { MemberRecord } from '../store/members.js';
import type { TenantRecord } from '../store/tenants.js';

/** The language of mail: the member's, or the tenant's for members without a preference and for others, or English. */
export function languageOf({
  tenant,
  member,
}: {
  tenant: Pick<TenantRecord, 'settings'> | undefined;
  member?: Pick<MemberRecord, 'preferences'> | undefined;
}): string {
  const own = member?.preferences['language'];
  return typeof own === 'string' ? own : (tenant?.settings.defaultLanguage ?? 'en');
}
