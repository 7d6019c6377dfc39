import { v5, v7 } from 'uuid';

/** A new record id: UUIDv7, lower case. Ids made later in one process sort later. */
export function newId(): string {
  return v7();
}

/**
 * A deterministic id (UUIDv5) for a record derived from another one for some purpose, so that it is created only once.
 */
export const derivedId = (id: string, purpose: string): string => v5(purpose, id);

/**
 * Whether the text is a UUID of any version in canonical lower case. Upper case is refused because SQLite compares ids
 * as text, where two spellings of one id would differ, unlike in PostgreSQL.
 */
export function isId(text: string): boolean {
  return CANONICAL_UUID.test(text);
}

const CANONICAL_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
