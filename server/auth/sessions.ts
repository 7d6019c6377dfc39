import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { iso } from '../../data-plane-agent/base/instants.js';
import { AuditStore } from '../store/audit.js';
import { MemberStore } from '../store/members.js';
import { SessionStore } from '../store/sessions.js';
import type { Changes } from '../access/changes.js';
import type { Directory } from '../tenants/directory.js';
import type { Settings } from '../access/settings.schemas.js';
import { DEFAULT_SETTINGS } from '../access/settings.js';
import { subjectAnswer } from '../tenants/subject-answer.js';
import type { Login } from './login.js';
import type { Principal } from '../access/principal.js';
import { mergedPreferences } from './profile.js';
import type { Refresh } from './refresh.js';
import { actorOf } from '../access/actor.js';
import { summaryOf } from './session-issue.js';
import type { OwnSession, Session } from './auth.schemas.js';

/** Sessions of members: signing in, refreshing and signing out. */
export interface Sessions {
  readonly login: Login;
  readonly refresh: Refresh;
  /** Ends the caller's session and revokes both of its tokens. */
  logout(principal: Principal, request: RequestInfo): Promise<void>;
  /** The caller's active sessions, newest first. */
  list(principal: Principal): Promise<OwnSession[]>;
  /** Ends one of the caller's sessions, possibly the present one. Throws NOT_FOUND. */
  end(principal: Principal, session: { readonly id: string }, request: RequestInfo): Promise<void>;
  /** Ends all of the caller's sessions except the present one. */
  endOthers(principal: Principal, request: RequestInfo): Promise<void>;
  /** The caller's present profile, permissions and settings. */
  me(principal: Principal): Promise<Session>;
  /** The lifetime of the refresh cookie, in milliseconds. */
  readonly refreshLifetimeMs: number;
}

export function createSessions({
  database,
  clock,
  changes,
  directory,
  edition,
  login,
  refresh,
  refreshLifetimeMs,
}: {
  database: Database;
  clock: Clock;
  changes: Changes;
  directory: Directory;
  edition: string;
  login: Login;
  refresh: Refresh;
  refreshLifetimeMs: number;
}): Sessions {
  return {
    login,
    refresh,
    refreshLifetimeMs,

    logout: async ({ sessionId, tenant, user }, request) => {
      await database.write({ tenantId: null }, async (tx) => {
        const at = clock.now();
        if (!(await new SessionStore(tx).revoke({ id: sessionId, at }))) return;
        await new AuditStore(tx).append({
          tenantId: tenant.id,
          at,
          actor: actorOf(user, request),
          action: 'logout',
          recordKind: 'session',
          recordId: sessionId,
        });
      });
      changes.notify({ kind: 'session', sessionId });
    },

    list: async ({ sessionId, tenant, user }) => {
      const sessions = await database.read({ tenantId: null }, (tx) =>
        new SessionStore(tx).liveOf({ tenantId: tenant.id, memberId: user.id, at: clock.now() }),
      );
      return sessions.map(({ id, ip, userAgent, idleExpiresAt, createdAt, rotatedAt }) => ({
        id,
        ip,
        userAgent: userAgent === '' ? null : userAgent,
        current: id === sessionId,
        expiresAt: iso(idleExpiresAt),
        createdAt: iso(createdAt),
        updatedAt: iso(rotatedAt),
      }));
    },

    end: async ({ tenant, user }, { id }, request) => {
      await database.write({ tenantId: null }, async (tx) => {
        const at = clock.now();
        if (!(await new SessionStore(tx).revokeOwn({ id, tenantId: tenant.id, memberId: user.id, at })))
          throw fail('NOT_FOUND', {});
        await new AuditStore(tx).append({
          tenantId: tenant.id,
          at,
          actor: actorOf(user, request),
          action: 'session_ended',
          recordKind: 'session',
          recordId: id,
        });
      });
      changes.notify({ kind: 'session', sessionId: id });
    },

    endOthers: async ({ sessionId, tenant, user }, request) => {
      await database.write({ tenantId: null }, async (tx) => {
        const at = clock.now();
        // Locked, to serialise with a concurrent sign-in.
        await new MemberStore(tx, tenant.id).lock(user.id);
        const sessions = new SessionStore(tx);
        // If two sessions end each other at the same time, one of them survives.
        if ((await sessions.byId(sessionId))?.revokedAt !== null) throw fail('UNAUTHENTICATED', {});
        const sessionsRevoked = await sessions.revokeOthersOf({
          tenantId: tenant.id,
          memberId: user.id,
          sessionId,
          at,
        });
        await new AuditStore(tx).append({
          tenantId: tenant.id,
          at,
          actor: actorOf(user, request),
          action: 'other_sessions_ended',
          recordKind: 'member',
          recordId: user.id,
          changes: { sessionsRevoked },
        });
      });
      changes.notify({ kind: 'member', tenantId: tenant.id, memberId: user.id });
    },

    me: async ({ tenant, user, permissions, features, settings }) => {
      const member = await database.read({ tenantId: null }, (tx) => new MemberStore(tx, tenant.id).byId(user.id));
      if (!member) throw fail('UNAUTHENTICATED', {});
      const all: Settings = { ...DEFAULT_SETTINGS, ...settings };
      const { timezone, reminderLeadDays, reminderHour, reminderEscalationDays, ownerScopeEnabled } = all;
      const subjects = (await directory.of(tenant.id))
        .subjects()
        .filter(({ id }) => user.subjectScope === null || user.subjectScope.includes(id));
      return {
        user: summaryOf(member),
        tenant: { id: tenant.id, slug: tenant.slug, name: tenant.name, edition },
        permissions: { ...permissions },
        featureFlags: { ...features },
        subjects: subjects.map((subject) => subjectAnswer(subject, permissions)),
        settings: {
          timezone,
          reminderLeadDays,
          reminderHour,
          reminderEscalationDays,
          ownerScopeEnabled,
          preferences: mergedPreferences(all, member.preferences),
        },
      };
    },
  };
}
