import type { SubjectKey } from './cast.js';
import { OUTDATED_TYPE } from './lifecycle.js';
import type { Life } from './shapes.js';

/** The contract type under which it was signed, where that is more than a sale or a lease. */
export function typeCodeOf(
  { type, lines, stage, endedMonthsAgo }: Life,
  { seller, currencyCode }: { readonly seller: SubjectKey; readonly currencyCode: string },
): string | null {
  if (type === 'sale' && seller === 'china' && currencyCode === 'CNY' && lines >= 4 && stage !== 'extracted')
    return 'turnkey';
  if (type === 'lease' && seller === 'japan' && lines === 18) return 'hire_purchase';
  if (type === 'sale' && seller === 'europe' && stage === 'archived' && endedMonthsAgo > 12) return OUTDATED_TYPE;
  return null;
}
