import { WORKFLOW_STAGES, type Control, type WorkflowStage } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { MODULES, type Level, type Module, type Permissions } from '../access/permissions.js';
import type { RoleRecord } from '../store/roles.js';

export { OWNER } from '../access/role-codes.js';

/** The roles of a new tenant. Administrators can change the levels later. */
export const BUILT_IN_ROLES: readonly RoleRecord[] = [
  //                 view   edit   delete payment invoice export collect admin  fields sensitive
  role('owner', 'Owner', {
    modules: 'edit   edit   edit   edit   edit   edit   edit   edit   edit   edit',
    stages: 'admin admin admin admin admin admin admin admin',
  }),
  role('admin', 'Admin', {
    modules: 'edit   edit   edit   edit   edit   edit   edit   edit   edit   edit',
    stages: 'admin admin admin admin admin admin admin admin',
  }),
  role('manager', 'Manager', {
    modules: 'edit   edit   edit   view   view   edit   edit   none   view   view',
    stages: 'approve approve approve sign edit approve approve view',
  }),
  role('sales', 'Sales', {
    modules: 'edit   edit   none   view   view   none   view   none   view   none',
    stages: 'edit edit edit view edit edit view view',
  }),
  role('legal', 'Legal', {
    modules: 'edit   edit   none   view   view   none   none   none   view   none',
    stages: 'edit edit approve sign edit view view view',
  }),
  role('finance', 'Finance', {
    modules: 'view   none   none   edit   edit   edit   edit   none   view   view',
    stages: 'view view view view view view view view',
  }),
  role('viewer', 'Viewer', {
    modules: 'view   none   none   view   view   none   view   none   view   none',
    stages: 'view view view view view view view view',
  }),
];

/** One row of each matrix: ten modules and eight stages, in the order of their lists. */
function role(
  code: string,
  name: string,
  { modules, stages }: { readonly modules: string; readonly stages: string },
): RoleRecord {
  const levels = modules.split(/ +/) as Level[];
  const controls = stages.split(/ +/) as Control[];
  return {
    code,
    name,
    builtIn: true,
    permissions: Object.fromEntries(
      MODULES.map((module, index): [Module, Level] => [module, levels[index] ?? 'none']),
    ) as Permissions,
    workflowControls: Object.fromEntries(
      WORKFLOW_STAGES.map((stage, index): [WorkflowStage, Control] => [stage, controls[index] ?? 'none']),
    ),
  };
}
