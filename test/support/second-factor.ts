import type { AuthLoginResult, MfaLoginRequired } from '../../server/auth/auth.schemas.js';
import { sealContext } from '../../server/notifications/outbox.js';
import { PASSWORD, signIn, type MadeTenant, type TestIdentity } from './accounts.js';
import { codeOf } from './authenticator-app.js';
import type { Answer, Client, DomainError } from './http.js';

/** A member whose password is `PASSWORD`. */
export interface Account {
  readonly tenant: MadeTenant['tenant'];
  readonly member: MadeTenant['owner'];
}

/** The possible answers to a login. */
export type LoginAnswer = Answer<AuthLoginResult & MfaLoginRequired & DomainError>;

export const logIn = (
  client: Client,
  { tenant, member }: Account,
  shown: Readonly<Record<string, unknown>> = {},
): Promise<LoginAnswer> =>
  client.post('/auth/login', { tenantSlug: tenant.slug, email: member.email, password: PASSWORD, ...shown });

export interface EnrolledAccount {
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
  /** Signed in since before the enrolment. */
  readonly client: Client;
}

/** Enrols the member over HTTP, which uses up the code of the clock's current time. */
export async function enrol(anonymous: Client, account: Account, { at }: { at: number }): Promise<EnrolledAccount> {
  const { client } = await signIn(anonymous, account);
  const {
    body: { secret },
  } = await client.post<{ secret: string }>('/auth/mfa/enroll/start');
  const { status, text, body } = await client.post<{ recoveryCodes: string[] }>('/auth/mfa/enroll/confirm', {
    secret,
    code: codeOf({ secret, at }),
  });
  if (status !== 200) throw new Error(`enrolment answered ${status}: ${text}`);
  return { secret, recoveryCodes: body.recoveryCodes, client };
}

/** The codes in the member's mails, oldest first, from the outbox. */
export async function mailedCodes(
  { database, options: { keyRing } }: TestIdentity,
  { member }: Account,
): Promise<string[]> {
  const rows = await database.read({ tenantId: null }, (tx) =>
    tx.all(
      "SELECT id, tenant_id, values_sealed FROM mail_outbox WHERE template = 'login_code' AND recipient = ? ORDER BY id",
      [member.email],
    ),
  );
  return rows.map((row) => {
    const [id, tenantId] = [String(row['id']), String(row['tenant_id'])];
    return (
      JSON.parse(keyRing.openText(String(row['values_sealed']), sealContext({ tenantId, id }))) as { code: string }
    ).code;
  });
}

/** The actions of a member's events in the platform's audit, in order. */
export async function auditedOf({ database }: Pick<TestIdentity, 'database'>, { member }: Account): Promise<string[]> {
  const rows = await database.read({ tenantId: null }, (tx) =>
    tx.all('SELECT action FROM audit_log WHERE actor_id = ? ORDER BY id', [member.id]),
  );
  return rows.map(({ action }) => String(action));
}
