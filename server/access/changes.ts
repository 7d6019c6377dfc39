/** What has changed in this process, after its transaction has ended: whoever keeps a copy drops it at once. */
export type Change =
  | { readonly kind: 'tenant'; readonly tenantId: string }
  | { readonly kind: 'member'; readonly tenantId: string; readonly memberId: string }
  | { readonly kind: 'session'; readonly sessionId: string };

/** Other processes learn of changes from the database, within five seconds. */
export interface Changes {
  tell(change: Change): void;
  listen(listener: (change: Change) => void): void;
}

export function createChanges(): Changes {
  const listeners: ((change: Change) => void)[] = [];
  return {
    tell: (change) => {
      for (const listener of listeners) listener(change);
    },
    listen: (listener) => {
      listeners.push(listener);
    },
  };
}
