import type { Database } from '../../data-plane-agent/base/database/database.js';
import { numberOrNull } from '../store/rows.js';

/** When the newest event of the platform's audit was recorded, in epoch milliseconds; null if there is none. */
export const newestEventAt = (database: Pick<Database, 'read'>): Promise<number | null> =>
  database.read({ tenantId: null }, async (tx) => {
    const row = await tx.get('SELECT at FROM audit_log ORDER BY id DESC LIMIT 1');
    return row ? numberOrNull(row, 'at') : null;
  });
