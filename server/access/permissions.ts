/** Permission modules and levels of the API document, part 5.12. */
export const MODULES = [
  'contract_view',
  'contract_edit',
  'contract_delete',
  'payment_entry',
  'invoice',
  'export',
  'collection',
  'admin',
  'custom_fields',
  'sensitive_data',
] as const;
export const LEVELS = ['none', 'view', 'edit'] as const;
export const FEATURES = ['apiAccess', 'workflowAutomation', 'customFields', 'aiGateway'] as const;
export const PLANS = ['free', 'pro', 'business', 'enterprise'] as const;

export type Module = (typeof MODULES)[number];
export type Level = (typeof LEVELS)[number];
export type Feature = (typeof FEATURES)[number];
export type PlanCode = (typeof PLANS)[number];
export type Permissions = Readonly<Record<Module, Level>>;
export type FeatureFlags = Readonly<Record<Feature, boolean>>;

/** The permission that an endpoint requires: `view('payment_entry')`. */
export interface Need {
  readonly module: Module;
  readonly level: 'view' | 'edit';
}
export const view = (module: Module): Need => ({ module, level: 'view' });
export const edit = (module: Module): Need => ({ module, level: 'edit' });

/** `edit` includes `view`. */
export const meets = (permissions: Permissions, { module, level }: Need): boolean =>
  LEVELS.indexOf(permissions[module]) >= LEVELS.indexOf(level);

/** The text in a 403 answer: `contract_edit (edit)`. */
export const needText = ({ module, level }: Need): string => levelText(module, level);

/** What a role has of the module that `needs` names, in the same form; `undefined` if it names none. */
export function heldText(needs: string, permissions: Permissions): string | undefined {
  const module = MODULES.find((name) => needs.startsWith(`${name} (`));
  return module && levelText(module, permissions[module]);
}

const levelText = (module: Module, level: Level): string => `${module} (${level})`;
