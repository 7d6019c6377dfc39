/** The digest of a key, and of what was asked for under it. */
export interface IdempotencyKey {
  readonly key: string;
  readonly requestHash: string;
}
