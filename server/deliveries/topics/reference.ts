import type { Static, TSchema } from '../../../data-plane-agent/base/schema.js';
import { checker } from '../../../data-plane-agent/base/validation.js';

/** The reference of a message, as the operation wrote it that enqueued the message. */
export function parsed<S extends TSchema>(schema: S, reference: unknown): Static<S> {
  const checked = checker(schema)(reference);
  if (!checked.ok) throw new Error(`the reference of the message is invalid: ${JSON.stringify(checked.issues)}`);
  return checked.value;
}
