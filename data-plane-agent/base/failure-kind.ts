import type { TSchema } from 'typebox';

/**
 * A kind of failure. `shape` is the wire shape: `framework` is `{ statusCode, message, error }`, `domain` is `{ error: {
 * code, message, details } }`.
 */
export interface FailureKind<D extends TSchema = TSchema> {
  readonly status: number;
  readonly shape: 'framework' | 'domain';
  /** When it happens; shown in the documentation and as the message. */
  readonly meaning: string;
  /** The schema of `details`. Clients receive all of it. */
  readonly details: D;
}

export const framework = <D extends TSchema>(status: number, meaning: string, details: D): FailureKind<D> => ({
  status,
  shape: 'framework',
  meaning,
  details,
});
export const domain = <D extends TSchema>(status: number, meaning: string, details: D): FailureKind<D> => ({
  status,
  shape: 'domain',
  meaning,
  details,
});
