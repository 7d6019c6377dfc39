import type { Day } from '../../data-plane-agent/base/day.js';
import type { DynamicField, PayloadOf } from '../../data-plane-agent/plane/contract/records/fields.js';
import { BUILT_IN_ROLES } from '../../server/tenants/roles.js';
import type { SubjectKey } from './cast.js';
import { planeOf, type Desk } from './desk.js';
import type { Habit } from './lines.js';
import type { Random } from './random.js';
import type { Life } from './shapes.js';
import { INDUSTRIES, type Industry } from './wares.js';

/** What a contract holds in the demo's custom fields; the member by his key in the cast. */
export interface DemoCustom {
  readonly industry: Industry;
  readonly deputy: string | null;
  readonly warrantyUntil: Day | null;
  readonly framework: boolean;
  /** In whole CNY. Not everybody may see it. */
  readonly creditLimit: number | null;
}

export interface DemoFields {
  readonly industry: DynamicField;
  readonly deputy: DynamicField;
  readonly warrantyUntil: DynamicField;
  readonly framework: DynamicField;
  readonly creditLimit: DynamicField;
}

const FIELDS: Readonly<Record<keyof DemoFields, PayloadOf<'CreateField'> & { readonly code: string }>> = {
  industry: { code: 'industry', name: 'Industry', type: 'select', options: INDUSTRIES.map((label) => ({ label })), section: 'Customer' },
  deputy: { code: 'deputy', name: 'Deputy', type: 'user', description: 'Who stands in for the owner.' },
  warrantyUntil: { code: 'warranty_until', name: 'Warranty until', type: 'date', section: 'Service' },
  framework: { code: 'framework_agreement', name: 'Framework agreement', type: 'boolean', section: 'Customer' },
  creditLimit: {
    code: 'credit_limit', name: 'Credit limit', type: 'currency', settings: { currencyCode: 'CNY', precision: 0 }, section: 'Customer',
    visibleRoles: ['owner', 'admin', 'manager', 'finance'], editableRoles: ['owner', 'admin', 'manager'], description: 'Seen and set by those who answer for it.',
  },
};

/** The demo's custom fields, which its administrator makes unless they are there. */
export async function enterFields(desk: Desk): Promise<DemoFields> {
  const plane = planeOf(desk, 'novak');
  const present = await plane.listFields({});
  const roleCodes = BUILT_IN_ROLES.map(({ code }) => code);
  const made = async (key: keyof DemoFields): Promise<DynamicField> => {
    const payload = FIELDS[key];
    return present.find(({ code }) => code === payload.code) ?? (await plane.runFieldCommand({ type: 'CreateField', payload: { ...payload }, known: { roleCodes } })).field;
  };
  // One after the other: the order in which they are made is that in which they are shown.
  const [industry, deputy, warrantyUntil, framework, creditLimit] = [await made('industry'), await made('deputy'), await made('warrantyUntil'), await made('framework'), await made('creditLimit')];
  return { industry, deputy, warrantyUntil, framework, creditLimit };
}

/** The values with which a contract is entered, by field. */
export function valuesOf({ industry, deputy, warrantyUntil, framework }: DemoCustom, fields: DemoFields, { ids }: Pick<Desk, 'ids'>): Record<string, unknown> {
  const option = fields.industry.options.find(({ label }) => label === industry);
  return {
    ...(option ? { [fields.industry.id]: option.id } : {}),
    ...(deputy === null ? {} : { [fields.deputy.id]: ids.member(deputy) }),
    ...(warrantyUntil === null ? {} : { [fields.warrantyUntil.id]: warrantyUntil }),
    [fields.framework.id]: framework,
  };
}

const DEPUTIES: Readonly<Record<SubjectKey, readonly [string, ...string[]]>> = { china: ['chen', 'zhang', 'zhou'], europe: ['devries', 'vermeulen', 'okafor'], japan: ['tanaka', 'vermeulen', 'okafor'] };
const LIMITS: Readonly<Record<Habit, readonly [number, ...number[]]>> = { prompt: [2_000_000, 3_000_000, 5_000_000], slow: [800_000, 1_200_000], bad: [200_000, 300_000] };

interface Surroundings {
  readonly random: Random;
  readonly seller: SubjectKey;
  readonly owner: string;
  readonly industry: Industry;
  readonly isDiscounted: boolean;
  readonly warrantyUntil: Day;
  readonly habit: Habit;
}

export function customOf({ type, stage, endedMonthsAgo }: Life, { random, seller, owner, industry, isDiscounted, warrantyUntil, habit }: Surroundings): DemoCustom {
  const deputy = random.pick(DEPUTIES[seller]);
  const isRunning = stage === 'signed' || stage === 'active' || endedMonthsAgo === 0;
  const creditLimit = random.pick(LIMITS[habit]);
  return {
    industry,
    deputy: deputy !== owner && random.percent(60) ? deputy : null,
    warrantyUntil: type === 'sale' && isRunning ? warrantyUntil : null,
    framework: isDiscounted || random.percent(10),
    creditLimit: stage === 'active' && random.percent(50) ? creditLimit : null,
  };
}
