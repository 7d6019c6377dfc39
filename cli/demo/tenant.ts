import { todayIn, type Day } from '../../data-plane-agent/base/day.js';
import type { Composed } from '../../server/compose.js';
import type { Actor } from '../../server/access/actor.js';
import { CommandError } from '../errors.js';
import { demoChannels, type DemoChannels } from './channel.js';
import { DEMO_MEMBERS, DEMO_OWNER, DEMO_SUBJECTS, DEMO_TENANT, type SubjectKey } from './cast.js';
import { demoPassword, keptDemoPassword } from './password.js';

export interface DemoTenant {
  readonly id: string;
  readonly timeZone: string;
  /** The day that its dates are relative to: the day of the first run. */
  readonly day: Day;
  /** All demo data was entered. */
  readonly complete: boolean;
  readonly password: string;
}

const TIME_ZONE = 'Asia/Shanghai';

/**
 * The demo's tenant, created if missing. It has the plan `free` until its data is complete, which marks an interrupted
 * demo. Throws DEMO_TENANT_TAKEN when another tenant has that slug.
 */
export async function demoTenant(
  { services }: Composed,
  { dataDir, actor }: { dataDir: string; actor: Actor },
): Promise<DemoTenant> {
  const { slug, name } = DEMO_TENANT;
  const present = await services.tenants.bySlug(slug);
  const ownerIsOurs =
    present && (await services.tenants.members.byEmail({ tenantId: present.id, email: DEMO_OWNER.email }));
  if (present && !(ownerIsOurs && keptDemoPassword(dataDir) !== undefined)) {
    throw new CommandError(
      'DEMO_TENANT_TAKEN',
      `there is an organisation ${slug} that was not made by this demo (or its password file in DATA_DIR was deleted); use another DATA_DIR or another database`,
    );
  }
  const password = demoPassword(dataDir);
  const tenant =
    present ??
    (
      await services.tenants.create(
        {
          slug,
          name,
          planCode: 'free',
          subjectName: DEMO_SUBJECTS[0].name,
          settings: { timezone: TIME_ZONE },
          owner: { name: DEMO_OWNER.name, email: DEMO_OWNER.email, password },
        },
        actor,
      )
    ).tenant;
  return {
    id: tenant.id,
    timeZone: TIME_ZONE,
    day: todayIn(TIME_ZONE, tenant.createdAt),
    complete: tenant.planCode === DEMO_PLAN,
    password,
  };
}

const DEMO_PLAN = 'enterprise';

/** Marks the demo as complete. */
export const completeDemo = ({ services }: Composed, actor: Actor): Promise<void> =>
  services.tenants.operator.setPlan({ slug: DEMO_TENANT.slug, planCode: DEMO_PLAN }, actor);

/** Ids of the demo's companies and people, by their keys in the cast, and of its notification channels. */
export interface DemoIds {
  subject(key: SubjectKey): string;
  member(key: string): string;
  readonly channels: DemoChannels;
}

/** Adds the companies, people and channels that are not there yet. */
export async function demoPeople(
  composed: Composed,
  { tenant, actor }: { tenant: DemoTenant; actor: Actor },
): Promise<DemoIds> {
  const { services } = composed;
  const tenantId = tenant.id;
  const presentSubjects = (await services.directory.of(tenantId)).subjects();
  const subjects = new Map<string, string>();
  for (const { key, name, legalName, taxNo, defaultPayeeAccount, defaultPayeeBank } of DEMO_SUBJECTS) {
    const subject =
      presentSubjects.find((one) => one.name === name) ??
      (await services.tenants.subjects.add(
        { tenantId, name, legalName, taxNo, defaultPayeeAccount, defaultPayeeBank },
        actor,
      ));
    subjects.set(key, subject.id);
  }
  const subject = (key: SubjectKey): string => known(subjects, key);
  const members = new Map<string, string>();
  // Sequentially, as hashing one password uses all cores.
  for (const { key, name, email, roleCode, scope } of DEMO_MEMBERS) {
    const present = await services.tenants.members.byEmail({ tenantId, email });
    const member =
      present ??
      (await services.tenants.members.add(
        { tenantId, name, email, roleCode, subjectScope: scope ? scope.map(subject) : null, password: tenant.password },
        actor,
      ));
    members.set(key, member.id);
  }
  return { subject, member: (key) => known(members, key), channels: await demoChannels(composed, { tenantId, actor }) };
}

function known(ids: ReadonlyMap<string, string>, key: string): string {
  const id = ids.get(key);
  if (id === undefined) throw new Error(`the demo's cast has no ${key}`);
  return id;
}
