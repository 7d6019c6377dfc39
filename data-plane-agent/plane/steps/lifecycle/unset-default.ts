import type { OperationContext } from '../operation-context.js';

/** Unsets the present default template, before another one is set. */
export async function unsetDefault({ store }: OperationContext): Promise<void> {
  const present = await store.lifecycle.defaultTemplate();
  await store.lifecycleConfig.updateTemplate(present, { ...present, isDefault: false });
}
