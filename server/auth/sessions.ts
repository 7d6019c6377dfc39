import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import type { RequestInfo } from '../http/request.js';
import { AuditStore } from '../store/audit.js';
import { MemberStore } from '../store/members.js';
import { SessionStore } from '../store/sessions.js';
import type { SubjectRecord } from '../store/subjects.js';
import type { Changes } from '../tenants/changes.js';
import type { Directory } from '../tenants/directory.js';
import { DEFAULT_SETTINGS, type Settings } from '../tenants/settings.js';
import type { Login } from './login.js';
import type { Principal } from './principal.js';
import type { Refresh } from './refresh.js';
import { actorOf, summaryOf } from './session-issue.js';
import type { Preferences, Session } from './shapes.js';

/** Signing in, staying in, and signing out. */
export interface Sessions {
  readonly login: Login;
  readonly refresh: Refresh;
  /** Ends the caller's session: both of its tokens are worth nothing from now on. */
  logout(principal: Principal, request: RequestInfo): Promise<void>;
  /** What the caller is and may do, as it is now. */
  me(principal: Principal): Promise<Session>;
  /** For the cookie, in milliseconds. */
  readonly refreshLifetimeMs: number;
}

export function createSessions({ database, clock, changes, directory, edition, login, refresh, refreshLifetimeMs }: {
  database: Database; clock: Clock; changes: Changes; directory: Directory; edition: string; login: Login; refresh: Refresh; refreshLifetimeMs: number;
}): Sessions {
  return {
    login,
    refresh,
    refreshLifetimeMs,

    logout: async ({ sessionId, tenant, user }, request) => {
      await database.write({ tenantId: null }, async (tx) => {
        const at = clock.now();
        if (!(await new SessionStore(tx).revoke({ id: sessionId, at }))) return;
        await new AuditStore(tx).append({ tenantId: tenant.id, at, actor: actorOf(user, request), action: 'logout', recordKind: 'session', recordId: sessionId });
      });
      changes.tell({ kind: 'session', sessionId });
    },

    me: async ({ tenant, user, permissions, features, settings }) => {
      const member = await database.read({ tenantId: null }, (tx) => new MemberStore(tx, tenant.id).byId(user.id));
      if (!member) throw fail('UNAUTHENTICATED', {});
      const all: Settings = { ...DEFAULT_SETTINGS, ...settings };
      const { timezone, reminderLeadDays, reminderHour, reminderEscalationDays, ownerScopeEnabled } = all;
      const subjects = (await directory.of(tenant.id)).subjects().filter(({ id }) => user.subjectScope === null || user.subjectScope.includes(id));
      return {
        user: summaryOf(member),
        tenant: { id: tenant.id, slug: tenant.slug, name: tenant.name, edition },
        permissions: { ...permissions },
        featureFlags: { ...features },
        subjects: subjects.map(subjectAnswer),
        settings: {
          timezone, reminderLeadDays, reminderHour, reminderEscalationDays, ownerScopeEnabled,
          preferences: { ...preferencesOf(all), ...member.preferences },
        },
      };
    },
  };
}

/** A member who prefers nothing gets the tenant's settings. */
const preferencesOf = (settings: Settings): Preferences => ({
  language: settings.defaultLanguage,
  locale: settings.localeRegion ?? settings.defaultLanguage,
  timezone: settings.timezone,
  currency: settings.displayCurrency,
  calendarSystem: settings.calendarSystem,
  measurementSystem: settings.measurementSystem,
  firstDayOfWeek: settings.firstDayOfWeek,
  dateFormat: settings.dateFormat,
  numberFormat: settings.numberFormat,
});

const subjectAnswer = ({ createdAt, updatedAt, ...subject }: SubjectRecord) => ({
  ...subject,
  createdAt: new Date(createdAt).toISOString(),
  updatedAt: new Date(updatedAt).toISOString(),
});
