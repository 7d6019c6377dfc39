/** A committed change in this process: listeners discard their cached copies. */
export type Change =
  | { readonly kind: 'tenant'; readonly tenantId: string }
  | { readonly kind: 'member'; readonly tenantId: string; readonly memberId: string }
  | { readonly kind: 'session'; readonly sessionId: string };

/** Notifies this process of changes; other processes read them from the database. */
export interface Changes {
  notify(change: Change): void;
  listen(listener: (change: Change) => void): void;
}

export function createChanges(): Changes {
  const listeners: ((change: Change) => void)[] = [];
  return {
    notify: (change) => {
      for (const listener of listeners) listener(change);
    },
    listen: (listener) => {
      listeners.push(listener);
    },
  };
}
