import type { LookedAt } from '../installation.js';
import { check, type Check } from './check.js';

/** What is valid but probably not intended, as the server warns about it at its start. */
export function configurationCheck({ warnings }: Pick<LookedAt, 'warnings'>, fix = 'see "duebook config"'): Check {
  return warnings.length === 0
    ? check.ok('configuration', 'valid')
    : check.warn('configuration', warnings.map(({ name, problem }) => `${name} ${problem}`).join('; '), fix);
}
