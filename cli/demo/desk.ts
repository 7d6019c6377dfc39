import type { Day } from '../../data-plane-agent/base/day.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { ALL_RIGHTS, type Call } from '../../data-plane-agent/plane/contract/call.js';
import { bind } from '../../data-plane-agent/plane/contract/data-plane.js';
import type { People } from '../../data-plane-agent/plane/contract/records/people.js';
import { WORKFLOW_STAGES, type Control } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import type { DataPlanes } from '../../server/data-planes/for-tenant.js';
import type { Plane } from '../../server/data-planes/plane.js';
import { BUILT_IN_ROLES } from '../../server/tenants/roles.js';
import { DEMO_MEMBERS, DEMO_SUBJECTS } from './cast.js';
import type { DemoIds, DemoTenant } from './tenant.js';

export type { Plane };

/** What the demo needs to act as its members. */
export interface Desk {
  readonly dataPlanes: DataPlanes;
  readonly tenant: DemoTenant;
  readonly ids: DemoIds;
  /** Called with the number of contracts entered so far. */
  readonly progress: (done: number, all: number) => void;
}

interface Sitting {
  /** The day of the action; by default the day of the demo's first run. */
  readonly on?: Day | undefined;
  /**
   * Existing contracts are entered at their present stage, which only the operator may do, on behalf of a member. All
   * other actions use the controls of the member's role.
   */
  readonly takesOver?: boolean;
}

const TIMEOUT_MS = 60_000;

/** The data plane, called as one of the demo's members. */
export function planeOf(desk: Plant, key: string, { on, takesOver = false }: Sitting = {}): Plane {
  const member = DEMO_MEMBERS.find((one) => one.key === key);
  const controls = takesOver
    ? EVERYTHING
    : BUILT_IN_ROLES.find(({ code }) => code === member?.roleCode)?.workflowControls;
  return bound(desk, {
    actor: {
      kind: takesOver ? 'cli' : 'user',
      id: desk.ids.member(key),
      name: member?.name ?? key,
      roleCode: member?.roleCode ?? null,
      ip: null,
    },
    ...(controls ? { controls } : {}),
    ...(on === undefined ? {} : { today: on }),
  });
}

/** The data plane, called as a scheduled job. */
export const planeOfJobs = (desk: Plant, { on }: Pick<Sitting, 'on'> = {}): Plane =>
  bound(desk, on === undefined ? {} : { today: on });

type Plant = Pick<Desk, 'dataPlanes' | 'tenant' | 'ids'>;

function bound({ dataPlanes, tenant }: Plant, who: Partial<Pick<Call, 'actor' | 'controls' | 'today'>>): Plane {
  const call: Call = {
    tenantId: tenant.id,
    requestId: newId(),
    timeoutMs: TIMEOUT_MS,
    actor: { kind: 'system', id: null, name: 'duebook', roleCode: null, ip: null },
    subjectScope: null,
    ownerScope: null,
    controls: {},
    rights: ALL_RIGHTS,
    timeZone: tenant.timeZone,
    today: tenant.day,
    reminderLeadDays: 7,
    reminderEscalationDays: 7,
    reminderHour: 9,
    currencyCode: 'CNY',
    language: 'en',
    idempotency: null,
    ifVersion: null,
    ...who,
  };
  return bind(dataPlanes.forTenant(tenant.id), call, { operations: OPERATIONS });
}

const EVERYTHING: Readonly<Record<string, Control>> = Object.fromEntries(
  WORKFLOW_STAGES.map((stage) => [stage, 'admin']),
);

/** The members and subject companies, in the form that the control plane passes to operations. */
export const peopleAt = ({ ids }: Pick<Desk, 'ids'>): People => ({
  members: DEMO_MEMBERS.map(({ key, name, email }) => ({ id: ids.member(key), name, email, active: true })),
  subjects: DEMO_SUBJECTS.map(({ key, name }) => ({ id: ids.subject(key), name })),
});
