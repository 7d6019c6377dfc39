import type { Accounts } from './auth/accounts.js';
import type { Codes } from './auth/codes.js';
import type { SigningKeys } from './auth/keys.js';
import type { Sessions } from './auth/sessions.js';
import type { Directory } from './tenants/directory.js';
import type { Tenants } from './tenants/tenants.js';
import type { Health } from './health.js';

/** What endpoints over tenant data call. Made once, in `compose.ts`. */
export interface Services {
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly keys: SigningKeys;
  readonly codes: Codes;
  readonly tenants: Tenants;
  readonly directory: Directory;
  readonly health: Health;
}
