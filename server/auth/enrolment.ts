import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { sha256Hex, type KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { Actor } from '../access/actor.js';
import { AuditStore } from '../store/audit.js';
import { MemberStore, type MemberRecord } from '../store/members.js';
import { MfaStore } from '../store/mfa.js';
import { newRecoveryCodes, recoveryCodeHash } from './recovery-codes.js';
import { totp } from './totp.js';
import type { WaysIn } from '../credentials/ways-in.js';

/**
 * How a member gets an authenticator, at the first login or later: a secret is offered, and confirmed with a code made
 * from it.
 */
export interface Enrolment {
  /**
   * A new secret and its `otpauth:` address. It can be confirmed for ten minutes; earlier offers stay good for theirs.
   */
  offer(tx: Transaction, member: Enrolled): Promise<Offer>;
  /**
   * Takes the offered secret as the member's own, and answers the recovery codes, this once. The member is told by
   * mail, and sessions other than `sessionId` end: whoever calls tells `changes`. A wrong code leaves the offer as it
   * is. A secret that was not offered to this member, or too long ago, is `unknown`: nobody chooses a secret for us.
   */
  confirm(
    tx: Transaction,
    member: Enrolled,
    given: { readonly secret: string; readonly code: string; readonly actor: Actor; readonly sessionId: string | null },
  ): Promise<Confirmed | 'unknown' | 'code_wrong' | 'enrolled_already'>;
}

export interface Offer {
  readonly secret: string;
  readonly otpauthUrl: string;
}
export interface Confirmed {
  readonly recoveryCodes: string[];
}
type Enrolled = Pick<MemberRecord, 'id' | 'tenantId' | 'email'>;

export function createEnrolment({
  clock,
  keyRing,
  waysIn,
  issuer,
}: {
  clock: Clock;
  keyRing: KeyRing;
  waysIn: WaysIn;
  issuer: string;
}): Enrolment {
  return {
    offer: async (tx, { id, tenantId, email }) => {
      const secret = totp.newSecret();
      // Only its digest is kept: the client sends the secret itself back.
      await new MfaStore(tx, tenantId).offer({ memberId: id, secretHash: sha256Hex(secret), at: clock.now() });
      return { secret, otpauthUrl: totp.url({ issuer, account: email, secret }) };
    },

    confirm: async (tx, { id, tenantId }, { secret, code, actor, sessionId }) => {
      const at = clock.now();
      const store = new MfaStore(tx, tenantId);
      // Of enrolments at once, whoever comes second waits here, and finds what the first has done.
      await new MemberStore(tx, tenantId).lock(id);
      if (await store.totp(id)) return 'enrolled_already';
      if (!(await store.isOffered({ memberId: id, secretHash: sha256Hex(secret), since: at - OFFER_MS })))
        return 'unknown';
      const step = await totp.stepOf({ secret, code, at });
      if (step === undefined) return 'code_wrong';
      const secretSealed = keyRing.seal(secret, totpSealContext({ tenantId, memberId: id }));
      // Decided by the row's key: of two enrolments at once, one is.
      if (!(await store.insertTotp({ memberId: id, secretSealed, step, at }))) return 'enrolled_already';
      await store.withdrawOffers(id);
      const recoveryCodes = newRecoveryCodes();
      await store.setRecoveryCodes({
        memberId: id,
        hashes: recoveryCodes.map((one) => recoveryCodeHash({ tenantId, memberId: id, code: one })),
      });
      const ended = await waysIn.changed(tx, { tenantId, memberId: id, change: 'authenticator_added', sessionId });
      await new AuditStore(tx).append({
        tenantId,
        at,
        actor,
        action: 'mfa_enrolled',
        recordKind: 'member',
        recordId: id,
        changes: ended,
      });
      return { recoveryCodes };
    },
  };
}

const OFFER_MS = 10 * 60_000;

export const totpSealContext = ({ tenantId, memberId }: { tenantId: string; memberId: string }): string =>
  `mfa_totp.secret_sealed.${tenantId}.${memberId}`;
