import { fail, invalid } from '../../../data-plane-agent/base/failures.js';
import { unlessRefused } from '../../../data-plane-agent/base/sound.js';
import type { Issue } from '../../../data-plane-agent/base/issue.js';
import { s, type Static } from '../../../data-plane-agent/base/schema.js';
import { CONTROLS, WORKFLOW_STAGES } from '../../../data-plane-agent/plane/contract/vocabulary.js';
import { edit, LEVELS, MODULES, type Permissions } from '../../access/permissions.js';
import { actorInSession, actorOf } from '../../access/actor.js';
import type { Plane } from '../../data-planes/plane.js';
import { endpoint } from '../../http/endpoint.js';
import { ControlsPatch, PermissionsOverview, PermissionsPatch, Role } from '../../tenants/tenants.schemas.js';
import type { Roles } from '../../tenants/role-changes.js';

const listRoles = endpoint('GET /tenant-admin/roles', {
  summary: 'List roles',
  needs: edit('admin'),
  returns: s.list(Role, 100, 'A plain array: an organisation has at most 100 roles.'),
  fails: [],
  run: async ({ principal, services }) => (await services.tenants.roles.list(principal.tenant.id)).map(roleAnswer),
});

const listRolePermissions = endpoint('GET /tenant-admin/permissions', {
  summary: 'List all roles with their permissions',
  description: 'Includes the names of all modules, levels and workflow controls, weakest first.',
  needs: edit('admin'),
  returns: PermissionsOverview,
  fails: [],
  run: async ({ principal, services }) => ({
    modules: [...MODULES],
    levels: [...LEVELS],
    controls: [...CONTROLS],
    roles: (await services.tenants.roles.list(principal.tenant.id)).map(roleAnswer),
  }),
});

const updateRolePermissions = endpoint('PATCH /tenant-admin/roles/:code/permissions', {
  summary: 'Update the permissions of a role',
  description:
    "Omitted modules are unchanged. The change applies from the next request of each member. The permissions of the owner's role cannot be lowered, nor can callers lower `admin` of their own role. The level of `admin` can be changed only within ten minutes of the caller's sign-in; members who gain or lose `admin (edit)` are notified by mail.",
  needs: edit('admin'),
  body: PermissionsPatch,
  returns: Role,
  fails: ['RECENT_LOGIN_REQUIRED', 'LAST_OWNER', 'LAST_ADMIN'],
  run: async ({ params, body, principal, request, services }) =>
    roleAnswer(
      await services.tenants.roles.setPermissions(
        {
          tenantId: principal.tenant.id,
          code: codeOf(params),
          permissions: given(body.permissions) as Partial<Permissions>,
        },
        actorInSession(principal, request),
      ),
    ), // the schema names its keys
});

const updateRoleWorkflowControls = endpoint('PATCH /tenant-admin/roles/:code/workflow-controls', {
  summary: 'Update the workflow controls of a role',
  description:
    "Omitted stages are unchanged. Keys are the eight stage categories and the codes of existing stages. The controls of the owner's role cannot be lowered.",
  needs: edit('admin'),
  body: ControlsPatch,
  furtherIssues: async ({ controls }, { plane }) =>
    (await unlessRefused(() => stageIssues(controls ?? {}, plane))) ?? [],
  returns: Role,
  calls: ['getContractCatalog'],
  fails: ['LAST_OWNER'],
  run: async ({ params, body, plane, principal, request, services }) => {
    const issues = await stageIssues(body.controls, plane);
    if (issues.length > 0) throw invalid(...issues);
    return roleAnswer(
      await services.tenants.roles.setWorkflowControls(
        { tenantId: principal.tenant.id, code: codeOf(params), controls: body.controls },
        actorOf(principal.user, request),
      ),
    );
  },
});

/** The data plane knows the stage codes; it is called only for keys that are not categories. */
async function stageIssues(
  controls: Readonly<Record<string, unknown>>,
  plane: Pick<Plane, 'getContractCatalog'>,
): Promise<Issue[]> {
  const isCategory = (key: string) => (WORKFLOW_STAGES as readonly string[]).includes(key);
  const others = Object.keys(controls).filter((key) => !isCategory(key));
  const codes =
    others.length === 0
      ? []
      : (await plane.getContractCatalog({})).templates.flatMap(({ stages }) => stages.map(({ code }) => code));
  const known = new Set(codes);
  return Object.entries(controls).flatMap(([key, control]) => {
    if (!isCategory(key) && !known.has(key)) return [{ path: `controls.${key}`, problem: 'is not a known field' }];
    return isCategory(key) && control === null
      ? [{ path: `controls.${key}`, problem: `must be one of ${CONTROLS.join(', ')}` }]
      : [];
  });
}

/** A value that is not a valid code names no role, so the database is not queried. */
function codeOf({ code }: { readonly code: string }): string {
  if (!/^[a-z][a-z0-9_]{1,63}$/.test(code)) throw fail('NOT_FOUND', {});
  return code;
}

const given = <V>(patch: Readonly<Record<string, V | undefined>>) =>
  Object.fromEntries(Object.entries(patch).filter((entry): entry is [string, V] => entry[1] !== undefined));

const roleAnswer = ({
  code,
  name,
  builtIn,
  memberCount,
  permissions,
  workflowControls,
}: Awaited<ReturnType<Roles['setPermissions']>>): Static<typeof Role> => ({
  code,
  name,
  builtIn,
  memberCount,
  permissions: { ...permissions },
  workflowControls: {
    ...Object.fromEntries(WORKFLOW_STAGES.map((stage) => [stage, 'none' as const])),
    ...workflowControls,
  },
});

export const roleEndpoints = { listRoles, listRolePermissions, updateRolePermissions, updateRoleWorkflowControls };
