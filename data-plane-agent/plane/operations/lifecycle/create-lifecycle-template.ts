import { fail, invalid } from '../../../base/failures.js';
import { MAX_TEMPLATES, Template, TemplateInput } from '../../contract/records/lifecycle.js';
import { templateAnswer } from '../../domain/lifecycle/presenter.js';
import type { Lifecycle } from '../../domain/lifecycle/moves.js';
import { operation } from '../../steps/operation-context.js';
import { checkCode, checkRoom, openConfig } from '../../steps/lifecycle/checks.js';
import { unsetDefault } from '../../steps/lifecycle/unset-default.js';

/** Creates a lifecycle template, empty or with copies of another one's stages and transitions. */
export const createLifecycleTemplate = operation({
  effect: 'write',
  input: TemplateInput,
  output: Template,
  fails: ['DUPLICATE_CODE', 'LIMIT_REACHED', 'REFERENCE_INVALID'],
  async run(context, _call, { code, name, description, copyFrom, isDefault }) {
    const { store, newId } = context;
    await openConfig(context);
    const templates = await store.lifecycleConfig.templates();
    const id = newId();
    checkCode(templates, { id, code });
    checkRoom(templates, MAX_TEMPLATES);
    if (copyFrom && !templates.some((template) => template.id === copyFrom))
      throw fail('REFERENCE_INVALID', { field: 'copyFrom', value: copyFrom });
    const { stages, transitions } = copyFrom ? await store.lifecycle.of(copyFrom) : EMPTY;
    if (isDefault && stages.length === 0)
      throw invalid({ path: 'isDefault', problem: 'must be false until the template has a stage' });
    if (isDefault) await unsetDefault(context);
    const copied = <
      R extends {
        readonly id: string;
        readonly templateId: string;
        readonly createdAt: number;
        readonly updatedAt: number;
      },
    >({
      createdAt: _c,
      updatedAt: _u,
      ...row
    }: R) => ({ ...row, id: newId(), templateId: id });
    const { template, ...content } = await store.lifecycleConfig.insertTemplate(
      { id, code, name, description: description ?? null, isDefault: isDefault ?? false },
      { stages: stages.map(copied), transitions: transitions.map(copied) },
    );
    return templateAnswer(template, content);
  },
});

const EMPTY: Lifecycle = { stages: [], transitions: [] };
