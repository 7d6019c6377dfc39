import type { Actor } from '../access/actor.js';

export interface AuditEvent {
  /** Generated unless given by a caller that needs the id before. */
  readonly id?: string;
  /** `null` if no tenant is known, as for a login with an unknown one. */
  readonly tenantId: string | null;
  readonly at: number;
  readonly actor: Actor;
  /** What happened, in the past tense: `member_added`. */
  readonly action: string;
  readonly recordKind: string;
  readonly recordId: string | null;
  /** Changed fields with before and after, or other details of the event, without secrets. */
  readonly changes?: Readonly<Record<string, unknown>>;
  /** The number of counted events, and the time of the last one. */
  readonly times?: number;
  readonly until?: number;
}
