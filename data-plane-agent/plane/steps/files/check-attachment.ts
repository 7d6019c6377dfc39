import { isId } from '../../../base/ids.js';
import type { Store } from '../../store/store.js';

/** Evidence is the id of a file in the caller's scope, or any other text that points to it. */
export async function checkAttachment(store: Store, attachment: string | null | undefined): Promise<void> {
  if (attachment !== null && attachment !== undefined && isId(attachment))
    await store.files.check('attachment', attachment);
}
