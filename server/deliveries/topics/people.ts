import type { Database } from '../../../data-plane-agent/base/database/database.js';
import { MemberStore, type MemberRecord } from '../../store/members.js';
import { TenantStore, type TenantRecord } from '../../store/tenants.js';
import { ADMIN, OWNER } from '../../access/role-codes.js';

/** The members of an organisation that messages go to. Read anew for each attempt: members leave. */
export interface People {
  readonly tenant: TenantRecord;
  /** The address of an active member. */
  address(memberId: string | null): string | undefined;
  /** Of the member who owns the organisation. */
  readonly owner: string | undefined;
  /** Of its administrators and its owner. */
  readonly admins: readonly string[];
}

/** The maximum number of administrators that a message is sent to. */
const MOST_ADMINS = 20;

/** `undefined` if the organisation does not exist. */
export const peopleOf = (
  database: Database,
  { tenantId, memberIds }: { readonly tenantId: string; readonly memberIds: readonly string[] },
): Promise<People | undefined> =>
  database.read({ tenantId: null }, async (tx) => {
    const tenant = await new TenantStore(tx).byId(tenantId);
    if (!tenant) return undefined;
    const members = new MemberStore(tx, tenantId);
    const owners = await members.holders({ roleCode: OWNER, limit: 1 });
    const admins = await members.holders({ roleCode: ADMIN, limit: MOST_ADMINS });
    const addresses = new Map<string, string>();
    for (const id of new Set(memberIds)) {
      const member = await members.byId(id);
      if (member && isActive(member)) addresses.set(id, member.email);
    }
    return {
      tenant,
      address: (id) => (id === null ? undefined : addresses.get(id)),
      owner: owners.filter(isActive)[0]?.email,
      admins: [...owners, ...admins].filter(isActive).map(({ email }) => email),
    };
  });

const isActive = ({ status }: MemberRecord): boolean => status === 'active';
