import { v5, v7 } from 'uuid';

/** A new record id: UUIDv7, lower case. Ids made later in one process sort later. */
export function newId(): string {
  return v7();
}

/** The id of what is made of another record for some purpose: the same each time, so that it is made once. UUIDv5. */
export const derivedId = (id: string, purpose: string): string => v5(purpose, id);

/**
 * Whether the text is a UUID of any version, in the canonical lower-case form. Upper case is refused because ids
 * are compared as text, and SQLite would keep two spellings of one id apart where PostgreSQL would not.
 */
export function isId(text: string): boolean {
  return CANONICAL_UUID.test(text);
}

const CANONICAL_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
