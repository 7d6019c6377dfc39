import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { MemberRecord } from '../store/members.js';
import { MfaStore } from '../store/mfa.js';
import { RoleStore } from '../store/roles.js';
import { totpSealContext } from './enrolment.js';
import { edit, meets, type Permissions } from '../access/permissions.js';
import { recoveryCodeHash } from './recovery-codes.js';
import type { MfaState } from '../access/session-policy.js';
import { isTotpCode, totp } from './totp.js';

type Member = Pick<MemberRecord, 'id' | 'tenantId' | 'roleCode'>;

/** A member's authenticator, and whether policy requires one. */
export interface SecondFactor {
  /** Whether policy requires a second factor for a role with these permissions. */
  isRequired(permissions: Permissions): boolean;
  stateOf(tx: Transaction, member: Member): Promise<Pick<MfaState, 'enrolled' | 'required'>>;
  /**
   * Verifies and invalidates a code of the authenticator or a recovery code. Returns which of the two it was, or
   * `undefined` for a wrong or used code. Of two concurrent requests with the same code, one succeeds. The caller
   * counts failures.
   */
  take(tx: Transaction, member: Member, code: string): Promise<'totp' | 'recovery_code' | undefined>;
}

export function createSecondFactor({
  clock,
  keyRing,
  requiredForAdmins,
}: {
  clock: Clock;
  keyRing: KeyRing;
  requiredForAdmins: boolean;
}): SecondFactor {
  const isRequired = (permissions: Permissions): boolean => requiredForAdmins && meets(permissions, edit('admin'));

  const takeTotp = async (tx: Transaction, { id, tenantId }: Member, code: string): Promise<boolean> => {
    const store = new MfaStore(tx, tenantId);
    const record = await store.totp(id);
    if (!record) return false;
    const secret = keyRing.openText(record.secretSealed, totpSealContext({ tenantId, memberId: id }));
    const step = await totp.stepOf({ secret, code, at: clock.now() });
    return step !== undefined && (await store.useStep({ memberId: id, step }));
  };

  return {
    isRequired,
    stateOf: async (tx, { id, tenantId, roleCode }) => {
      const role = await new RoleStore(tx, tenantId).byCode(roleCode);
      return {
        enrolled: (await new MfaStore(tx, tenantId).totp(id)) !== undefined,
        required: role !== undefined && isRequired(role.permissions),
      };
    },
    take: async (tx, member, code) => {
      if (isTotpCode(code)) return (await takeTotp(tx, member, code)) ? 'totp' : undefined;
      const { id: memberId, tenantId } = member;
      return (await new MfaStore(tx, tenantId).takeRecoveryCode({
        memberId,
        hash: recoveryCodeHash({ tenantId, memberId, code }),
      }))
        ? 'recovery_code'
        : undefined;
    },
  };
}
