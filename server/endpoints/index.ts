import type { Endpoints } from '../http/mount.js';
import { auditEndpoints } from './audit.js';
import { authEndpoints } from './auth.js';
import { contractEndpoints } from './contracts.js';
import { healthEndpoints } from './health.js';
import { invitationEndpoints } from './invitations.js';
import { mfaEndpoints } from './mfa.js';
import { passkeyEndpoints } from './passkeys.js';
import { passwordResetEndpoints } from './password-reset.js';
import { paymentEndpoints } from './payments.js';
import { profileEndpoints } from './profile.js';
import { sessionEndpoints } from './sessions.js';
import { ssoEndpoints } from './sso.js';
import { tenantAdminEndpoints } from './tenant-admin/index.js';

/** The one list: routes, access checks, validation, the OpenAPI document and the guarantee tests all come from it. */
export const ENDPOINTS = {
  ...authEndpoints,
  ...mfaEndpoints,
  ...profileEndpoints,
  ...sessionEndpoints,
  ...passkeyEndpoints,
  ...ssoEndpoints,
  ...passwordResetEndpoints,
  ...invitationEndpoints,
  ...healthEndpoints,
  ...contractEndpoints,
  ...paymentEndpoints,
  ...auditEndpoints,
  ...tenantAdminEndpoints,
} as const satisfies Endpoints;
