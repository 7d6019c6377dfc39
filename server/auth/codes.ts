import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { randomToken, sha256Hex } from '../../data-plane-agent/base/secrets.js';
import type { Actor } from '../access/actor.js';
import { AuditStore } from '../store/audit.js';
import { RedeemCodeStore, type RedeemCodeRecord } from '../store/redeem-codes.js';
import type { PlanCode } from '../access/permissions.js';

export type { RedeemCodeRecord };

/** Redeem codes, with which organisations register on a plan. */
export interface Codes {
  /** Returns the codes, of which only hashes are stored. `expiresAt` in epoch milliseconds, `null` for never. */
  issue(
    order: { readonly planCode: PlanCode; readonly count: number; readonly expiresAt: number | null },
    actor: Actor,
  ): Promise<IssuedCode[]>;
  /** Newest first, without the codes themselves. */
  list(): Promise<RedeemCodeRecord[]>;
  /** Throws NOT_FOUND if there is no such unused code. */
  revoke(code: { readonly id: string }, actor: Actor): Promise<void>;
}

export interface IssuedCode {
  readonly id: string;
  readonly code: string;
  readonly planCode: PlanCode;
  readonly expiresAt: number | null;
}

export function createCodes({ database, clock }: { database: Database; clock: Clock }): Codes {
  const scope = { tenantId: null };
  return {
    issue: async ({ planCode, count, expiresAt }, actor) => {
      const codes = Array.from({ length: count }, (): IssuedCode => ({
        id: newId(),
        code: randomToken(CODE_BYTES),
        planCode,
        expiresAt,
      }));
      await database.write(scope, async (tx) => {
        const at = clock.now();
        for (const { id, code } of codes) {
          await new RedeemCodeStore(tx).insert({ id, codeHash: codeHash(code), planCode, createdAt: at, expiresAt });
          await new AuditStore(tx).append({
            tenantId: null,
            at,
            actor,
            action: 'redeem_code_issued',
            recordKind: 'redeem_code',
            recordId: id,
            changes: { planCode, expiresAt },
          });
        }
      });
      return codes;
    },
    list: () => database.read(scope, (tx) => new RedeemCodeStore(tx).all()),
    revoke: ({ id }, actor) =>
      database.write(scope, async (tx) => {
        const at = clock.now();
        if (!(await new RedeemCodeStore(tx).revoke({ id, at }))) throw fail('NOT_FOUND', {});
        await new AuditStore(tx).append({
          tenantId: null,
          at,
          actor,
          action: 'redeem_code_revoked',
          recordKind: 'redeem_code',
          recordId: id,
        });
      }),
  };
}

const CODE_BYTES = 24;

/** A plain digest is enough, because the code has as much entropy as a key. */
export const codeHash = (code: string): string => sha256Hex(code);
