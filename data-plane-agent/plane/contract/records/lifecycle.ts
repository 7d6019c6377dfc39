import { s, partial, type Static } from '../../../base/schema.js';
import { CONTROLS, WORKFLOW_STAGES } from '../vocabulary.js';
import { stamps } from './common.js';
import { code, Conditions, Effects } from './conditions.js';

/** How many there may be, of a tenant and of a template. */
export const MAX_TYPES = 100;
export const MAX_TEMPLATES = 50;
export const MAX_STAGES = 100;
export const MAX_TRANSITIONS = 500;

const name = () => s.name({ max: 100 });
const order = () => s.optional(s.integer({ max: 1_000_000, about: 'Ascending; default: after the last.' }));

/** Contract types, stages and transitions as a client sends them (API document 4.11). */
export const ContractTypeInput = s.object(
  {
    code: code('What contracts carry as `typeCode`.'),
    name: name(),
    category: s.optional(
      s.name({
        max: 64,
        about:
          '`sale` and `lease` become the `type` of contracts that name none; any other word means `sale`. Default: the code if it is one of the two, else `sale`.',
      }),
    ),
    description: s.optional(s.longText()),
    enabled: s.optional(
      s.flag('True unless it is false. No contract can be entered with a disabled type; those that have it keep it.'),
    ),
    order: order(),
    fieldSchema: s.optional(s.free('Kept as given.')),
    defaultRules: s.optional(
      s.free(
        "Kept as given. `remindFromStage` must be a stage code of the type's lifecycle template: contracts are reminded from that stage on.",
      ),
    ),
    defaultLifecycleTemplateId: s.optional(
      s.id("Contracts that name no template get it. Default: the tenant's default template."),
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
        'What contracts in this stage answer as `workflow`. Default: the code if it is one of these, else `review`.',
      ),
    ),
    order: order(),
    isTerminal: s.optional(s.flag('Only the workflow control `admin` leads out of it.')),
    locksCoreFields: s.optional(s.flag('Contracts that enter it are locked; those in it stay as they are.')),
    completionRules: s.optional(Conditions),
    allowedRoleCodes: s.optional(
      s.list(s.text({ max: 64 }), 100, 'When not empty: only these roles may move a contract into it.'),
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
      s.enum(
        CONTROLS,
        'The workflow control that the acting role must hold at the stage from which it leads. Default: `edit`.',
      ),
    ),
    conditions: s.optional(Conditions),
    effects: s.optional(Effects),
    order: order(),
    enabled: s.optional(s.flag('True unless it is false.')),
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
  isDefault: s.optional(s.flag('Another one that becomes the default takes the place of the one before.')),
};
export const TemplateInput = s.object(
  {
    ...template,
    copyFrom: s.optional(
      s.text({
        max: 100,
        about: 'Id of the template whose stages and transitions it begins with; without it it has none.',
      }),
    ),
  },
  { title: 'LifecycleTemplateInput' },
);
export type TemplateInput = Static<typeof TemplateInput>;
export const TemplatePatch = partial(s.object(template), { title: 'LifecycleTemplatePatch' });
export type TemplatePatch = Static<typeof TemplatePatch>;

const answeredOrder = () => s.integer();
const answeredCode = () => s.text({ max: 64 });

export const ContractType = s.object(
  {
    id: s.id(),
    code: answeredCode(),
    name: name(),
    category: s.text({ max: 64 }),
    description: s.nullable(s.longText()),
    enabled: s.flag(),
    order: answeredOrder(),
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
    code: answeredCode(),
    name: name(),
    category: s.enum(WORKFLOW_STAGES),
    order: answeredOrder(),
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
    code: answeredCode(),
    name: name(),
    fromStageCode: answeredCode(),
    toStageCode: answeredCode(),
    requiredControl: s.enum(CONTROLS),
    conditions: Conditions,
    effects: Effects,
    order: answeredOrder(),
    enabled: s.flag(),
    ...stamps,
  },
  { title: 'LifecycleTransition' },
);
export type TransitionConfig = Static<typeof TransitionConfig>;

export const Template = s.object(
  {
    id: s.id(),
    code: answeredCode(),
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
