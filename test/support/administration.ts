import { newId } from '../../data-plane-agent/base/ids.js';
import { SessionStore } from '../../server/store/sessions.js';
import { makeMember, makeTenant, signIn, type MadeTenant } from './accounts.js';
import type { Client } from './http.js';
import type { TestServer } from './server.js';

/** An organisation with a signed-in owner. */
export interface Administration extends MadeTenant {
  readonly asOwner: Client;
  /** Adds another member, who is signed in. */
  join(as: {
    roleCode: string;
    subjectScope?: readonly string[] | null;
    email?: string;
  }): Promise<{ readonly id: string; readonly email: string; readonly client: Client }>;
  /** The tenant's events in the platform's audit, oldest first, without sign-ins. */
  audit(): Promise<
    readonly {
      readonly action: string;
      readonly recordId: string | null;
      readonly actorId: string | null;
      readonly ip: string | null;
      readonly requestId: string;
      readonly changes: Record<string, unknown>;
    }[]
  >;
}

export async function administration(
  server: TestServer,
  options: Parameters<typeof makeTenant>[1] = {},
): Promise<Administration> {
  const { services, foundation } = server;
  const made = await makeTenant(services, options);
  const { client } = await signIn(server.client, { tenant: made.tenant, member: made.owner });
  return {
    ...made,
    asOwner: client,
    join: async (as) => {
      const member = await makeMember(services, made, as);
      return {
        id: member.id,
        email: member.email,
        client: (await signIn(server.client, { tenant: made.tenant, member })).client,
      };
    },
    audit: () =>
      foundation.platform.read({ tenantId: null }, async (tx) => {
        const rows = await tx.all(
          "SELECT action, record_id, actor_id, ip, request_id, changes FROM audit_log WHERE tenant_id = ? AND action NOT LIKE 'login%' ORDER BY id",
          [made.tenant.id],
        );
        return rows.map((row) => ({
          action: String(row['action']),
          recordId: row['record_id'] as string | null,
          actorId: row['actor_id'] as string | null,
          ip: row['ip'] as string | null,
          requestId: String(row['request_id']),
          changes: JSON.parse(String(row['changes'])) as Record<string, unknown>,
        }));
      }),
  };
}

/** Inserts a session opened just now with a password into the database, for calls without HTTP. */
export async function openSession(
  { platform }: Pick<TestServer['foundation'], 'platform'>,
  { tenantId, memberId }: { tenantId: string; memberId: string },
): Promise<string> {
  const [id, at, later] = [newId(), Date.now(), Date.now() + 3_600_000];
  await platform.write({ tenantId: null }, (tx) =>
    new SessionStore(tx).insert({
      id,
      tenantId,
      memberId,
      generation: 1,
      rotatedAt: at,
      idleExpiresAt: later,
      absoluteExpiresAt: later,
      ownPages: false,
      way: 'password',
      byEmailCode: false,
      ip: null,
      userAgent: null,
      createdAt: at,
      revokedAt: null,
    }),
  );
  return id;
}
