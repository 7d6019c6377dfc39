import type { DetailsOf } from '../../data-plane-agent/base/failures.js';
import { s } from '../../data-plane-agent/base/schema.js';
import { checker } from '../../data-plane-agent/base/validation.js';
import type { Issue } from '../../data-plane-agent/base/issue.js';
import { FEATURES, PLANS, type Feature, type FeatureFlags, type PlanCode } from './permissions.js';

const Plan = s.object({ name: s.name({ max: 80 }), features: s.list(s.enum(FEATURES), FEATURES.length) });

/**
 * The features of each plan; security features are available in every plan. `PLAN_CATALOG_FILE` replaces this table
 * with JSON of the same form.
 */
export const PlanCatalog = s.object(
  { free: Plan, pro: Plan, business: Plan, enterprise: Plan },
  { title: 'PlanCatalog' },
);
export type PlanCatalog = Readonly<Record<PlanCode, { readonly name: string; readonly features: readonly Feature[] }>>;

export const PLAN_CATALOG: PlanCatalog = {
  free: { name: 'Free', features: [] },
  pro: { name: 'Pro', features: ['workflowAutomation', 'customFields'] },
  business: { name: 'Business', features: ['apiAccess', 'workflowAutomation', 'customFields', 'aiGateway'] },
  enterprise: { name: 'Enterprise', features: ['apiAccess', 'workflowAutomation', 'customFields', 'aiGateway'] },
};

/** One phrase per feature, for `docs/plans.md`. */
export const FEATURE_MEANINGS: Readonly<Record<Feature, string>> = {
  apiAccess: 'API calls by your own programs.',
  workflowAutomation: 'Custom contract types and lifecycle templates, and transitions and locks of contracts.',
  customFields: 'Defining and changing custom fields of contracts.',
  aiGateway: "Checks of AI requests against the organisation's policy.",
};

export interface Plans {
  /** The feature flags of a plan in this installation. */
  features(plan: PlanCode): FeatureFlags;
  /** The refusal of a tenant whose plan lacks the feature. */
  refusal(lacking: { readonly feature: Feature; readonly tenantSlug: string }): DetailsOf<'PLAN_FEATURE_NOT_ENABLED'>;
}

/**
 * `selfHosted`: every plan includes API access; otherwise the catalogue decides. On a self-hosted installation the
 * organisation can change its plan with the CLI, so the refusal names the command.
 */
export function createPlans({
  catalog = PLAN_CATALOG,
  selfHosted,
}: {
  catalog?: PlanCatalog;
  selfHosted: boolean;
}): Plans {
  const has = (plan: PlanCode, feature: Feature) =>
    catalog[plan].features.includes(feature) || (feature === 'apiAccess' && selfHosted);
  const flagsOf = (plan: PlanCode) =>
    Object.fromEntries(FEATURES.map((feature) => [feature, has(plan, feature)])) as FeatureFlags;
  const resolved = new Map(PLANS.map((plan) => [plan, Object.freeze(flagsOf(plan))]));
  return {
    features: (plan) => resolved.get(plan) ?? flagsOf(plan),
    refusal: ({ feature, tenantSlug }) => {
      const plans = PLANS.filter((plan) => has(plan, feature));
      const [lowest] = plans;
      return {
        feature,
        plans,
        ...(selfHosted && lowest !== undefined && { command: `duebook tenants set-plan ${tenantSlug} ${lowest}` }),
      };
    },
  };
}

/** Parses the content of a `PLAN_CATALOG_FILE`. */
export function parsePlanCatalog(
  text: string,
): { readonly ok: true; readonly catalog: PlanCatalog } | { readonly ok: false; readonly issues: readonly Issue[] } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, issues: [{ path: '', problem: 'must be valid JSON' }] };
  }
  const checked = checker(PlanCatalog)(value);
  return checked.ok ? { ok: true, catalog: checked.value } : checked;
}
