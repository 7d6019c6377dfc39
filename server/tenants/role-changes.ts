import type { Database } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { CONTROLS, type Control } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { edit, LEVELS, meets, type Level, type Module, type Permissions } from '../access/permissions.js';
import type { SignInMethods } from '../credentials/sign-in-methods.js';
import type { MailOutbox } from '../notifications/mail.js';
import type { Actor } from '../access/actor.js';
import { MemberStore } from '../store/members.js';
import { RoleStore, type RoleRecord } from '../store/roles.js';
import { MAX_NOTIFIED, notifyOfAdminChange } from './admin-rights.js';
import { differences, type ChangeTenant } from './change.js';
import { OWNER } from './roles.js';

export interface CountedRole extends RoleRecord {
  /** Includes disabled members. */
  readonly memberCount: number;
}

type OfRole = { readonly tenantId: string; readonly code: string };

/**
 * The roles of tenants and their permissions. Omitted values are unchanged. An unknown role is NOT_FOUND. Throws
 * LAST_OWNER if the owner's role would be lowered, LAST_ADMIN if callers lower the `admin` level of their own role.
 */
export interface Roles {
  list(tenantId: string): Promise<CountedRole[]>;
  /**
   * A change of the `admin` level requires a recent sign-in (RECENT_LOGIN_REQUIRED); members who gain or lose admin
   * (edit) are notified.
   */
  setPermissions(change: OfRole & { readonly permissions: Partial<Permissions> }, actor: Actor): Promise<CountedRole>;
  /**
   * Keys are stage categories, or stage codes, which the caller has checked; `null` removes the control of a stage
   * code.
   */
  setWorkflowControls(
    change: OfRole & { readonly controls: Readonly<Record<string, Control | null>> },
    actor: Actor,
  ): Promise<CountedRole>;
}

export function createRoles({
  database,
  change,
  mail,
  signInMethods,
}: {
  database: Database;
  change: ChangeTenant;
  mail: MailOutbox;
  signInMethods: Pick<SignInMethods, 'requireRecentLogin'>;
}): Roles {
  const ask = { recordKind: 'role' };
  return {
    list: (tenantId) =>
      database.read({ tenantId: null }, async (tx) => {
        const counts = await new MemberStore(tx, tenantId).countByRole();
        return (await new RoleStore(tx, tenantId).all()).map((role) => ({
          ...role,
          memberCount: counts.get(role.code) ?? 0,
        }));
      }),

    setPermissions: ({ tenantId, code, permissions: patch }, actor) =>
      change({ ...ask, tenantId, actor, action: 'role_permissions_changed' }, async (tx, tenant, at) => {
        const roles = new RoleStore(tx, tenantId);
        const members = new MemberStore(tx, tenantId);
        const role = await found(roles, members, code);
        const changed = differences(role.permissions, patch);
        const lowered = (Object.entries(patch) as [Module, Level][])
          .filter(([module, to]) => LEVELS.indexOf(to) < LEVELS.indexOf(role.permissions[module]))
          .map(([module]) => module);
        if (code === OWNER && lowered.length > 0) throw fail('LAST_OWNER', {});
        if (
          lowered.includes('admin') &&
          actor.kind === 'user' &&
          actor.id !== null &&
          (await members.byId(actor.id))?.roleCode === code
        )
          throw fail('LAST_ADMIN', {});
        const permissions = { ...role.permissions, ...patch };
        if (changed?.['admin'] !== undefined && actor.kind === 'user')
          await signInMethods.requireRecentLogin(tx, { sessionId: actor.sessionId });
        if (changed) await roles.setPermissions({ code, permissions, at });
        const [wasAdmin, isAdmin] = [meets(role.permissions, edit('admin')), meets(permissions, edit('admin'))];
        if (wasAdmin && !isAdmin) await members.loseAdmin({ roleCode: code, at });
        if (wasAdmin !== isAdmin)
          await notifyOfAdminChange(tx, mail, {
            tenant,
            members: await members.holders({ roleCode: code, limit: MAX_NOTIFIED }),
            change: isAdmin ? 'gained' : 'lost',
          });
        return { answer: { ...role, permissions }, changed, recordId: code };
      }),

    setWorkflowControls: ({ tenantId, code, controls: patch }, actor) =>
      change({ ...ask, tenantId, actor, action: 'role_workflow_controls_changed' }, async (tx, _tenant, at) => {
        const roles = new RoleStore(tx, tenantId);
        const role = await found(roles, new MemberStore(tx, tenantId), code);
        const nothing = Object.fromEntries(Object.keys(patch).map((stage) => [stage, null]));
        const changed = differences<Partial<Record<string, Control | null>>>(
          { ...nothing, ...role.workflowControls },
          patch,
        );
        // For a stage code without its own control, the owner has that of its category, which is the highest.
        const isLower = ([stage, to]: [string, Control | null]) =>
          to !== null && CONTROLS.indexOf(to) < CONTROLS.indexOf(role.workflowControls[stage] ?? 'admin');
        if (code === OWNER && Object.entries(patch).some(isLower)) throw fail('LAST_OWNER', {});
        const workflowControls = Object.fromEntries(
          Object.entries({ ...role.workflowControls, ...patch }).filter(
            (entry): entry is [string, Control] => entry[1] !== null,
          ),
        );
        if (changed) await roles.setWorkflowControls({ code, controls: workflowControls, at });
        return { answer: { ...role, workflowControls }, changed, recordId: code };
      }),
  };
}

async function found(roles: RoleStore, members: MemberStore, code: string): Promise<CountedRole> {
  const role = await roles.byCode(code);
  if (!role) throw fail('NOT_FOUND', {});
  return { ...role, memberCount: (await members.countByRole()).get(code) ?? 0 };
}
