import type { OperationContext } from '../operation-context.js';

/** The present default template makes room for another one. */
export async function leaveDefault({ store }: OperationContext): Promise<void> {
  const present = await store.lifecycle.defaultTemplate();
  await store.lifecycleConfig.updateTemplate(present, { ...present, isDefault: false });
}
