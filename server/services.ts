import type { Accounts } from './auth/accounts.js';
import type { Sessions } from './auth/sessions.js';
import type { Directory } from './tenants/directory.js';
import type { Health } from './health.js';

/** What endpoints over tenant data call. Made once, in `compose.ts`. */
export interface Services {
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly directory: Directory;
  readonly health: Health;
}
