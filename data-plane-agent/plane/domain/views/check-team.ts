import { fail } from '../../../base/failures.js';
import type { Call } from '../../contract/call.js';
import type { SavedViewRow } from '../../tables/views.js';

/** Only administrators may change team views; all members may read them. */
export function checkTeam({ scope }: Pick<SavedViewRow, 'scope'>, { rights }: Pick<Call, 'rights'>): void {
  if (scope === 'team' && !rights.admin) throw fail('FORBIDDEN', { needs: 'admin (edit)' });
}
