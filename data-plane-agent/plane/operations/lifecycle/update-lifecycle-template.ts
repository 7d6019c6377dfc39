import { invalid } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { Template, TemplatePatch } from '../../contract/records/lifecycle.js';
import { templateAnswer } from '../../domain/lifecycle/presenter.js';
import { operation } from '../../steps/operation-context.js';
import { checkCode, foundTemplate, openConfig } from '../../steps/lifecycle/checks.js';
import { unsetDefault } from '../../steps/lifecycle/unset-default.js';

/** Renames a template or makes it the default. Contracts keep their template. */
export const updateLifecycleTemplate = operation({
  effect: 'write',
  input: s.object({ templateId: s.id(), changes: TemplatePatch }),
  output: Template,
  fails: ['DUPLICATE_CODE'],
  async run(context, _call, { templateId, changes: { code, name, description, isDefault } }) {
    const { store } = context;
    await openConfig(context);
    const before = await foundTemplate(context, templateId);
    const content = await store.lifecycle.of(before.id);
    const asked = isDefault === undefined ? before.isDefault : (isDefault ?? false);
    const after = {
      ...before,
      code: code ?? before.code,
      name: name ?? before.name,
      description: description === undefined ? before.description : description,
      isDefault: asked,
    };
    checkCode(await store.lifecycleConfig.templates(), after);
    if (before.isDefault && !asked)
      throw invalid({ path: 'isDefault', problem: 'must stay true until another template is made the default' });
    if (asked && content.stages.length === 0)
      throw invalid({ path: 'isDefault', problem: 'must be false until the template has a stage' });
    if (asked && !before.isDefault) await unsetDefault(context);
    return templateAnswer(await store.lifecycleConfig.updateTemplate(before, after), content);
  },
});
