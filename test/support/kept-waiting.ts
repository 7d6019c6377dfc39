import type { Database, Scope } from '../../data-plane-agent/base/database/database.js';

/** Keeps the shared writes of a tenant waiting until it is released, so that those that wait then begin together. */
export async function keptWaiting(database: Database, scope: Scope): Promise<() => void> {
  const held = Promise.withResolvers<void>();
  // The second would share the transaction of the first if both came in the same turn of the event loop.
  for (let running = 0; running < 2; running++) {
    const begun = Promise.withResolvers<void>();
    void database.write(
      scope,
      async (tx) => {
        await tx.get('SELECT 1');
        begun.resolve();
        await held.promise;
      },
      { mayShare: true },
    );
    await begun.promise;
  }
  return held.resolve;
}
