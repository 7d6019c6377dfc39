import type { Database, Scope } from '../../data-plane-agent/base/database/database.js';

/** Keeps the shared writes of a tenant waiting until it is released, so that those that wait then begin together. */
export async function keptWaiting(database: Database, scope: Scope): Promise<() => void> {
  const held = Promise.withResolvers<void>();
  const begun = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  for (const { resolve } of begun)
    void database.write(
      scope,
      async (tx) => {
        await tx.get('SELECT 1');
        resolve();
        await held.promise;
      },
      { mayShare: true },
    );
  await Promise.all(begun.map(({ promise }) => promise));
  return held.resolve;
}
