import type { PlatformAudit } from '../audit/platform-audit.js';
import type { Identity } from '../auth/identity.js';
import type { Health } from './health.js';

/** What endpoints over tenant data call. Made once, in `compose.ts`. Who calls is decided before an endpoint runs. */
export interface Services extends Omit<Identity, 'authenticator'> {
  readonly audit: PlatformAudit;
  readonly health: Health;
}
