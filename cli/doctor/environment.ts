import { notProduction } from '../../server/operating-mode.js';
import type { LookedAt } from '../installation.js';
import { check, type Check } from './check.js';

/** Whether this is a production installation; otherwise what its settings allow. */
export const environmentCheck = (
  { values }: Pick<LookedAt, 'values'>,
  { production }: { readonly production: boolean },
): Check =>
  production
    ? check.ok('environment', 'production: the strict defaults apply (NODE_ENV=production)')
    : check.warn(
        'environment',
        notProduction(values),
        'before you enter real data: set NODE_ENV=production, SECRET_KEYS, an https PUBLIC_URL, and CLAMAV_URL (or FILE_SCAN_MODE=off); see "Production" in docs/configuration.md',
      );
