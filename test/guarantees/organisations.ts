import { randomBytes } from 'node:crypto';
import type { PlanCode } from '../../server/access/permissions.js';
import { makeMember, makeTenant, OPERATOR, signIn, type MadeTenant } from '../support/accounts.js';
import type { Client } from '../support/http.js';
import type { TestServer } from '../support/server.js';

/** A member with a session. */
export interface SignedIn {
  readonly client: Client;
  /** The access token, for raw requests. */
  readonly token: string;
}

/**
 * A tenant with a signed-in owner, a second subject company, a second member, and a word that only its own records
 * contain.
 */
export interface Organisation extends MadeTenant, SignedIn {
  readonly server: TestServer;
  readonly otherSubjectId: string;
  readonly memberId: string;
  readonly marker: string;
}

export async function organisation(
  server: TestServer,
  { planCode = 'enterprise' }: { planCode?: PlanCode } = {},
): Promise<Organisation> {
  const { services } = server;
  const made = await makeTenant(services, { planCode });
  const marker = `marker-${randomBytes(8).toString('hex')}`;
  const subject = await services.tenants.subjects.add(
    { tenantId: made.tenant.id, name: `${marker} Leasing` },
    OPERATOR,
  );
  const member = await makeMember(services, made, { roleCode: 'admin' });
  const owner = await signInAs(server, made, made.owner);
  return { ...made, ...owner, server, otherSubjectId: subject.id, memberId: member.id, marker };
}

/** Another member of the organisation, signed in; for the role of owner, the existing owner. */
export async function memberOf(
  org: Organisation,
  as: { roleCode: string; subjectScope?: readonly string[] },
): Promise<SignedIn> {
  return signInAs(
    org.server,
    org,
    as.roleCode === 'owner' ? org.owner : await makeMember(org.server.services, org, as),
  );
}

async function signInAs(
  server: TestServer,
  { tenant }: MadeTenant,
  member: { readonly email: string },
): Promise<SignedIn> {
  const { client, result } = await signIn(server.client, { tenant, member });
  return { client, token: result.accessToken };
}
