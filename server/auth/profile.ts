import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { AuditStore } from '../store/audit.js';
import { MemberStore, type MemberRecord } from '../store/members.js';
import { TenantStore } from '../store/tenants.js';
import type { Changes } from '../access/changes.js';
import type { Settings } from '../access/settings.schemas.js';
import { settingsOf } from '../access/settings.js';
import type { Principal } from '../access/principal.js';
import { actorOf } from '../access/actor.js';
import { summaryOf } from './session-issue.js';
import type { NameProfile } from '../access/person.schemas.js';
import type { AuthUserSummary, Preferences, PreferencesPatch } from './auth.schemas.js';

/** Changes of members to their own account. */
export interface Profile {
  /** `null` falls back to the tenant's setting. Returns the preferences in effect. */
  setPreferences(principal: Principal, patch: PreferencesPatch, request: RequestInfo): Promise<Preferences>;
  /** `nameProfile` is replaced as a whole; `null` clears it. */
  setProfile(
    principal: Principal,
    patch: { readonly name?: string; readonly nameProfile?: NameProfile | null },
    request: RequestInfo,
  ): Promise<AuthUserSummary>;
}

export function createProfile({
  database,
  clock,
  changes,
}: {
  database: Database;
  clock: Clock;
  changes: Changes;
}): Profile {
  /** Locks the caller's row, lets `work` change it, and audits the changes that it returns. */
  const change = async <T>(
    { tenant, user }: Principal,
    { request, action }: { request: RequestInfo; action: string },
    work: (
      tx: Transaction,
      member: MemberRecord,
      at: number,
    ) => Promise<{ answer: T; changed: Readonly<Record<string, unknown>> }>,
  ): Promise<T> => {
    const answer = await database.write({ tenantId: null }, async (tx) => {
      const member = await new MemberStore(tx, tenant.id).lock(user.id);
      if (!member) throw fail('UNAUTHENTICATED', {});
      const at = clock.now();
      const { answer: result, changed } = await work(tx, member, at);
      if (Object.keys(changed).length > 0)
        await new AuditStore(tx).append({
          tenantId: tenant.id,
          at,
          actor: actorOf(user, request),
          action,
          recordKind: 'member',
          recordId: user.id,
          changes: changed,
        });
      return result;
    });
    changes.notify({ kind: 'member', tenantId: tenant.id, memberId: user.id });
    return answer;
  };

  return {
    setPreferences: (principal, patch, request) =>
      change(principal, { request, action: 'preferences_changed' }, async (tx, member, at) => {
        const changed = changesOf(member.preferences, patch);
        const preferences = Object.fromEntries(
          Object.entries({ ...member.preferences, ...patch }).filter(
            ([, value]) => value !== null && value !== undefined,
          ),
        );
        if (Object.keys(changed).length > 0)
          await new MemberStore(tx, principal.tenant.id).setPreferences({ id: member.id, preferences, at });
        const tenant = await new TenantStore(tx).byId(principal.tenant.id);
        return { answer: mergedPreferences(settingsOf(tenant?.settings ?? {}), preferences), changed };
      }),

    setProfile: (principal, patch, request) =>
      change(principal, { request, action: 'profile_changed' }, async (tx, member, at) => {
        const { name = member.name, nameProfile = member.nameProfile } = patch;
        const changed = changesOf({ name: member.name, nameProfile: member.nameProfile }, { name, nameProfile });
        if (Object.keys(changed).length > 0) {
          await new MemberStore(tx, principal.tenant.id).setProfile({ id: member.id, name, nameProfile, at });
          await new TenantStore(tx).touchDirectory(principal.tenant.id);
        }
        return { answer: summaryOf({ ...member, name, nameProfile }), changed };
      }),
  };
}

/** The member's preferences, with the tenant's settings as defaults. */
export const mergedPreferences = (settings: Settings, own: MemberRecord['preferences']): Preferences => ({
  language: settings.defaultLanguage,
  locale: settings.localeRegion ?? settings.defaultLanguage,
  timezone: settings.timezone,
  currency: settings.displayCurrency,
  calendarSystem: settings.calendarSystem,
  measurementSystem: settings.measurementSystem,
  firstDayOfWeek: settings.firstDayOfWeek,
  dateFormat: settings.dateFormat,
  numberFormat: settings.numberFormat,
  ...own,
});

const changesOf = (
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(after)
      .map(([key, to]) => [key, { from: before[key] ?? null, to: to ?? null }] as const)
      .filter(([, { from, to }]) => JSON.stringify(from) !== JSON.stringify(to)),
  );
