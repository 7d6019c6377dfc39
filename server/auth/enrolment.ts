import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { sha256Hex, type KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { Actor } from '../access/actor.js';
import { AuditStore } from '../store/audit.js';
import { MemberStore, type MemberRecord } from '../store/members.js';
import { MfaStore } from '../store/mfa.js';
import { newRecoveryCodes, recoveryCodeHash } from './recovery-codes.js';
import { totp } from './totp.js';
import type { SignInMethods } from '../credentials/sign-in-methods.js';

/**
 * How a member enrols an authenticator, at a login or later: a secret is offered, and confirmed with a code generated
 * from it.
 */
export interface Enrolment {
  /** Returns a new secret and its `otpauth:` URL. It can be confirmed for ten minutes; earlier offers remain valid. */
  offer(tx: Transaction, member: Enrolled): Promise<Offer>;
  /**
   * Enrols the offered secret and returns the recovery codes, which are not stored in plain text. The member is
   * notified by mail, and sessions other than `sessionId` end: the caller must notify `changes`. A wrong code does not
   * invalidate the offer. A secret that was not offered to this member, or has expired, is `unknown`, so that clients
   * cannot choose a secret.
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
  signInMethods,
  issuer,
}: {
  clock: Clock;
  keyRing: KeyRing;
  signInMethods: SignInMethods;
  issuer: string;
}): Enrolment {
  return {
    offer: async (tx, { id, tenantId, email }) => {
      const secret = totp.newSecret();
      // Only the digest is stored: the client sends the secret back.
      await new MfaStore(tx, tenantId).offer({ memberId: id, secretHash: sha256Hex(secret), at: clock.now() });
      return { secret, otpauthUrl: totp.url({ issuer, account: email, secret }) };
    },

    confirm: async (tx, { id, tenantId }, { secret, code, actor, sessionId }) => {
      const at = clock.now();
      const store = new MfaStore(tx, tenantId);
      // Serialises concurrent enrolments of the same member.
      await new MemberStore(tx, tenantId).lock(id);
      if (await store.totp(id)) return 'enrolled_already';
      if (!(await store.isOffered({ memberId: id, secretHash: sha256Hex(secret), since: at - OFFER_MS })))
        return 'unknown';
      const step = await totp.stepOf({ secret, code, at });
      if (step === undefined) return 'code_wrong';
      const secretSealed = keyRing.seal(secret, totpSealContext({ tenantId, memberId: id }));
      // The primary key of the row allows only one of two concurrent enrolments.
      if (!(await store.insertTotp({ memberId: id, secretSealed, step, at }))) return 'enrolled_already';
      await store.withdrawOffers(id);
      const recoveryCodes = newRecoveryCodes();
      await store.setRecoveryCodes({
        memberId: id,
        hashes: recoveryCodes.map((one) => recoveryCodeHash({ tenantId, memberId: id, code: one })),
      });
      const ended = await signInMethods.changed(tx, {
        tenantId,
        memberId: id,
        change: 'authenticator_added',
        sessionId,
      });
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
