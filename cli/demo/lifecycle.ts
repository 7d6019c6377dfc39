import type { Catalog, ContractTypeInput } from '../../data-plane-agent/plane/contract/records/lifecycle.js';
import { planeOf, type Desk, type Plane } from './desk.js';
import type { DemoFields } from './fields.js';
import { TURNKEY_STAGES, TURNKEY_TEMPLATE, turnkeyTransitions } from './turnkey.js';

const ADMINISTRATOR = 'novak';

/** The custom contract types of the demo. */
const typesWith = (turnkeyId: string) =>
  [
    {
      code: 'turnkey',
      name: '交钥匙工程',
      category: 'sale',
      description: 'A plant delivered ready to run, accepted as a whole.',
      order: 30,
      defaultLifecycleTemplateId: turnkeyId,
      defaultRules: { remindFromStage: 'signed' },
      fieldSchema: { sections: ['Customer', 'Site', 'Service'] },
    },
    {
      code: 'hire_purchase',
      name: '割賦販売',
      category: 'lease',
      description: "The machine is the customer's once the last instalment is paid.",
      order: 40,
      defaultRules: { remindFromStage: 'active' },
    },
    {
      code: OUTDATED_TYPE,
      name: 'Sale from stock',
      category: 'sale',
      description: 'Until 2024; now a plain sale.',
      order: 90,
    },
  ] satisfies ContractTypeInput[];

/** The type that is disabled at the end. */
export const OUTDATED_TYPE = 'stock_sale';

/** Makes the stages of the demo's own lifecycle template and its contract types, as far as they are not there. */
export async function enterTypes(desk: Desk): Promise<void> {
  const plane = planeOf(desk, ADMINISTRATOR);
  const { types, templates } = await plane.getContractCatalog({});
  const template = turnkeyIn(templates) ?? (await plane.createLifecycleTemplate(TURNKEY_TEMPLATE));
  for (const stage of TURNKEY_STAGES)
    if (!template.stages.some(({ code }) => code === stage.code))
      await plane.addLifecycleStage({ templateId: template.id, stage: ownLists(stage) });
  for (const type of typesWith(template.id))
    if (!types.some(({ code }) => code === type.code)) await plane.createContractType(type);
}

/** Creates the transitions between those stages. They require custom fields, which must exist. */
export async function enterTransitions(fields: Pick<DemoFields, 'orderNo'>, desk: Desk): Promise<void> {
  const plane = planeOf(desk, ADMINISTRATOR);
  const template = turnkeyIn((await plane.getContractCatalog({})).templates);
  if (!template) throw new Error('the template is made before its transitions');
  for (const transition of turnkeyTransitions({ orderNo: fields.orderNo, channelId: desk.ids.channels.office })) {
    if (!template.transitions.some(({ code }) => code === transition.code))
      await plane.addLifecycleTransition({ templateId: template.id, transition });
  }
}

/** Disables the outdated type, once its contracts are entered. */
export async function closeOutdatedType(desk: Desk): Promise<void> {
  const plane: Plane = planeOf(desk, ADMINISTRATOR);
  const type = (await plane.getContractCatalog({})).types.find(({ code }) => code === OUTDATED_TYPE);
  if (type?.enabled) await plane.updateContractType({ typeId: type.id, changes: { enabled: false } });
}

const turnkeyIn = (templates: Catalog['templates']) => templates.find(({ code }) => code === TURNKEY_TEMPLATE.code);

/** Copies the readonly lists of a constant into the mutable lists of a request. */
const ownLists = <S extends (typeof TURNKEY_STAGES)[number]>(stage: S) => ({
  ...stage,
  ...('allowedRoleCodes' in stage ? { allowedRoleCodes: [...stage.allowedRoleCodes] } : {}),
});
