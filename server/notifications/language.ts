import type { MemberRecord } from '../store/members.js';
import type { TenantRecord } from '../store/tenants.js';

/** The language of mail to a member, or to somebody who is none yet: his own, else the tenant's, else English. */
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
