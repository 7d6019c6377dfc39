/** Digests of an idempotency key and of the request sent with it. */
export interface IdempotencyKey {
  readonly key: string;
  readonly requestHash: string;
}
