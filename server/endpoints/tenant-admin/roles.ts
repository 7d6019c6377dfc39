import { fail } from '../../../data-plane-agent/base/failures.js';
import { s, type Static } from '../../../data-plane-agent/base/schema.js';
import { CONTROLS, WORKFLOW_STAGES } from '../../../data-plane-agent/plane/contract/vocabulary.js';
import { edit, LEVELS, MODULES, type Permissions } from '../../auth/permissions.js';
import { actorOf } from '../../auth/session-issue.js';
import { endpoint } from '../../http/endpoint.js';
import { ControlsPatch, PermissionsOverview, PermissionsPatch, Role } from '../../tenants/records.js';
import type { Roles } from '../../tenants/role-changes.js';

const listRoles = endpoint('GET /tenant-admin/roles', {
  summary: 'List roles',
  needs: edit('admin'),
  returns: s.list(Role, 100),
  fails: [],
  run: async ({ principal, services }) => (await services.tenants.roles.list(principal.tenant.id)).map(roleAnswer),
});

const listPermissions = endpoint('GET /tenant-admin/permissions', {
  summary: 'Show all roles with what they may do',
  description: 'With the names of all modules, levels and workflow controls, weakest first.',
  needs: edit('admin'),
  returns: PermissionsOverview,
  fails: [],
  run: async ({ principal, services }) => ({ modules: [...MODULES], levels: [...LEVELS], controls: [...CONTROLS], roles: (await services.tenants.roles.list(principal.tenant.id)).map(roleAnswer) }),
});

const updatePermissions = endpoint('PATCH /tenant-admin/roles/:code/permissions', {
  summary: 'Change what a role may do',
  description: 'Modules that are not named stay. It holds from the next request of each of its members on. The rights of the owner\'s role cannot be lowered, nor `admin` of one\'s own.',
  needs: edit('admin'),
  body: PermissionsPatch,
  returns: Role,
  fails: ['LAST_OWNER', 'LAST_ADMIN'],
  run: async ({ params, body, principal, request, services }) =>
    roleAnswer(await services.tenants.roles.setPermissions({ tenantId: principal.tenant.id, code: codeOf(params), permissions: given(body.permissions) as Partial<Permissions> }, actorOf(principal.user, request))), // the schema names its keys
});

const updateWorkflowControls = endpoint('PATCH /tenant-admin/roles/:code/workflow-controls', {
  summary: 'Change which workflow controls a role holds',
  description: 'Stages that are not named stay. Those of the owner\'s role cannot be lowered.',
  needs: edit('admin'),
  body: ControlsPatch,
  returns: Role,
  fails: ['LAST_OWNER'],
  run: async ({ params, body, principal, request, services }) =>
    roleAnswer(await services.tenants.roles.setWorkflowControls({ tenantId: principal.tenant.id, code: codeOf(params), controls: given(body.controls) }, actorOf(principal.user, request))),
});

/** What is no code at all names no role, and is never asked of a database. */
function codeOf({ code }: { readonly code: string }): string {
  if (!/^[a-z][a-z0-9_]{1,63}$/.test(code)) throw fail('NOT_FOUND', {});
  return code;
}

const given = <V>(patch: Readonly<Record<string, V | undefined>>) => Object.fromEntries(Object.entries(patch).filter((entry): entry is [string, V] => entry[1] !== undefined));

const roleAnswer = ({ code, name, builtIn, memberCount, permissions, workflowControls }: Awaited<ReturnType<Roles['setPermissions']>>): Static<typeof Role> => ({
  code, name, builtIn, memberCount, permissions: { ...permissions }, workflowControls: Object.fromEntries(WORKFLOW_STAGES.map((stage) => [stage, workflowControls[stage] ?? 'none'])),
});

export const roleEndpoints = { listRoles, listPermissions, updatePermissions, updateWorkflowControls };
