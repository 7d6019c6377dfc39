import { s, partial, type Static } from '../../../base/schema.js';
import { CONTROLS, WORKFLOW_STAGES } from '../vocabulary.js';
import { stamps } from './common.js';
import { code, Conditions, Effects } from './conditions.js';

/** The maximum numbers per tenant and per template. */
export const MAX_TYPES = 100;
export const MAX_TEMPLATES = 50;
export const MAX_STAGES = 100;
export const MAX_TRANSITIONS = 500;

const name = () => s.name({ max: 100 });
const order = () => s.optional(s.integer({ max: 1_000_000, about: 'Ascending; default: after the last.' }));

/** Contract types, stages and transitions as a client sends them (API document 4.11). */
export const ContractTypeInput = s.object(
  {
    code: code('The `typeCode` of contracts of this type.'),
    name: name(),
    category: s.optional(
      s.name({
        max: 64,
        about:
          '`sale` or `lease` is the default `type` of contracts; any other word means `sale`. Default: the code if it is one of the two, else `sale`.',
      }),
    ),
    description: s.optional(s.longText()),
    enabled: s.optional(
      s.flag('Default: true. A disabled type cannot be used for new contracts; existing ones keep it.'),
    ),
    order: order(),
    fieldSchema: s.optional(s.free('Stored unchanged.')),
    defaultRules: s.optional(
      s.free(
        "Stored unchanged, except that `remindFromStage` must be a stage code of the type's lifecycle template: reminders are sent from that stage on.",
      ),
    ),
    defaultLifecycleTemplateId: s.optional(
      s.id("The template of contracts that specify none. Default: the tenant's default template."),
    ),
  },
  { title: 'ContractTypeInput' },
);
export type ContractTypeInput = Static<typeof ContractTypeInput>;
export const ContractTypePatch = partial(ContractTypeInput, { title: 'ContractTypePatch' });
export type ContractTypePatch = Static<typeof ContractTypePatch>;

export const StageInput = s.object(
  {
    code: code(),
    name: name(),
    category: s.optional(
      s.enum(
        WORKFLOW_STAGES,
        'The `workflow` of contracts in this stage. Default: the code if it is one of these, else `review`.',
      ),
    ),
    order: order(),
    isTerminal: s.optional(s.flag('Leaving the stage requires the workflow control `admin`.')),
    locksCoreFields: s.optional(
      s.flag('Contracts are locked when they enter the stage; those already in it do not change.'),
    ),
    completionRules: s.optional(Conditions),
    allowedRoleCodes: s.optional(
      s.list(s.text({ max: 64 }), 100, 'If not empty, only these roles may move a contract into the stage.'),
    ),
  },
  { title: 'LifecycleStageInput' },
);
export type StageInput = Static<typeof StageInput>;
export const StagePatch = partial(StageInput, { title: 'LifecycleStagePatch' });
export type StagePatch = Static<typeof StagePatch>;

export const TransitionConfigInput = s.object(
  {
    code: code(),
    name: name(),
    fromStageCode: s.text({ max: 64 }),
    toStageCode: s.text({ max: 64 }),
    requiredControl: s.optional(
      s.enum(CONTROLS, "The workflow control that the caller's role needs at the source stage. Default: `edit`."),
    ),
    conditions: s.optional(Conditions),
    effects: s.optional(Effects),
    order: order(),
    enabled: s.optional(s.flag('Default: true.')),
  },
  { title: 'LifecycleTransitionInput' },
);
export type TransitionConfigInput = Static<typeof TransitionConfigInput>;
export const TransitionConfigPatch = partial(TransitionConfigInput, { title: 'LifecycleTransitionPatch' });
export type TransitionConfigPatch = Static<typeof TransitionConfigPatch>;

const template = {
  code: code(),
  name: name(),
  description: s.optional(s.longText()),
  isDefault: s.optional(s.flag('A new default template replaces the previous default.')),
};
export const TemplateInput = s.object(
  {
    ...template,
    copyFrom: s.optional(
      s.text({
        max: 100,
        about: 'Id of the template to copy stages and transitions from; without it the new template is empty.',
      }),
    ),
  },
  { title: 'LifecycleTemplateInput' },
);
export type TemplateInput = Static<typeof TemplateInput>;
export const TemplatePatch = partial(s.object(template), { title: 'LifecycleTemplatePatch' });
export type TemplatePatch = Static<typeof TemplatePatch>;

const responseOrder = () => s.integer();
const responseCode = () => s.text({ max: 64 });

export const ContractType = s.object(
  {
    id: s.id(),
    code: responseCode(),
    name: name(),
    category: s.text({ max: 64 }),
    description: s.nullable(s.longText()),
    enabled: s.flag(),
    order: responseOrder(),
    fieldSchema: s.free(),
    defaultRules: s.free(),
    defaultLifecycleTemplateId: s.nullable(s.id()),
    ...stamps,
  },
  { title: 'ContractType' },
);
export type ContractType = Static<typeof ContractType>;

export const Stage = s.object(
  {
    id: s.id(),
    templateId: s.id(),
    code: responseCode(),
    name: name(),
    category: s.enum(WORKFLOW_STAGES),
    order: responseOrder(),
    isTerminal: s.flag(),
    locksCoreFields: s.flag(),
    completionRules: Conditions,
    allowedRoleCodes: s.list(s.text({ max: 64 }), 100),
    ...stamps,
  },
  { title: 'LifecycleStage' },
);
export type Stage = Static<typeof Stage>;

export const TransitionConfig = s.object(
  {
    id: s.id(),
    templateId: s.id(),
    code: responseCode(),
    name: name(),
    fromStageCode: responseCode(),
    toStageCode: responseCode(),
    requiredControl: s.enum(CONTROLS),
    conditions: Conditions,
    effects: Effects,
    order: responseOrder(),
    enabled: s.flag(),
    ...stamps,
  },
  { title: 'LifecycleTransition' },
);
export type TransitionConfig = Static<typeof TransitionConfig>;

export const Template = s.object(
  {
    id: s.id(),
    code: responseCode(),
    name: name(),
    description: s.nullable(s.longText()),
    isDefault: s.flag(),
    stages: s.list(Stage, MAX_STAGES),
    transitions: s.list(TransitionConfig, MAX_TRANSITIONS),
    ...stamps,
  },
  { title: 'LifecycleTemplate' },
);
export type Template = Static<typeof Template>;

export const Catalog = s.object(
  { types: s.list(ContractType, MAX_TYPES), templates: s.list(Template, MAX_TEMPLATES) },
  { title: 'ContractCatalog' },
);
export type Catalog = Static<typeof Catalog>;
