import type { Endpoints } from '../http/mount.js';
import { aiGatewayEndpoints } from './ai-gateway.js';
import { analyticsEndpoints } from './analytics.js';
import { auditEndpoints } from './audit.js';
import { authEndpoints } from './auth.js';
import { calendarEndpoints } from './calendar.js';
import { collectionEndpoints } from './collections.js';
import { contractConfigEndpoints } from './contract-config.js';
import { contractExportEndpoints } from './contract-export.js';
import { contractBulkEndpoints } from './contract-bulk.js';
import { contractHistoryEndpoints } from './contract-history.js';
import { contractNoteEndpoints } from './contract-notes.js';
import { contractTermEndpoints } from './contract-terms.js';
import { contractTrashEndpoints } from './contract-trash.js';
import { contractEndpoints } from './contracts.js';
import { contractImportEndpoints } from './contract-import.js';
import { extractionEndpoints } from './extraction.js';
import { fileEndpoints } from './files.js';
import { dynamicFieldEndpoints } from './dynamic-fields.js';
import { healthEndpoints } from './health.js';
import { invitationEndpoints } from './invitations.js';
import { invoiceRegisterEndpoints } from './invoice-register.js';
import { invoiceEndpoints } from './invoices.js';
import { mfaEndpoints } from './mfa.js';
import { passkeyEndpoints } from './passkeys.js';
import { passwordEndpoints } from './password.js';
import { passwordResetEndpoints } from './password-reset.js';
import { paymentEndpoints } from './payments.js';
import { profileEndpoints } from './profile.js';
import { reminderEndpoints } from './reminders.js';
import { savedViewEndpoints } from './saved-views.js';
import { sessionEndpoints } from './sessions.js';
import { ssoEndpoints } from './sso.js';
import { taskEndpoints } from './tasks.js';
import { tenantAdminEndpoints } from './tenant-admin/index.js';
import { workflowEndpoints } from './workflow.js';

/**
 * The only list of endpoints: routes, access checks, validation, the OpenAPI document and the guarantee tests derive
 * from it.
 */
export const ENDPOINTS = {
  ...authEndpoints,
  ...mfaEndpoints,
  ...profileEndpoints,
  ...sessionEndpoints,
  ...passkeyEndpoints,
  ...ssoEndpoints,
  ...passwordResetEndpoints,
  ...passwordEndpoints,
  ...invitationEndpoints,
  ...healthEndpoints,
  ...contractEndpoints,
  ...contractImportEndpoints,
  ...contractNoteEndpoints,
  ...contractTermEndpoints,
  ...contractBulkEndpoints,
  ...contractTrashEndpoints,
  ...contractHistoryEndpoints,
  ...contractExportEndpoints,
  ...paymentEndpoints,
  ...collectionEndpoints,
  ...reminderEndpoints,
  ...invoiceEndpoints,
  ...invoiceRegisterEndpoints,
  ...taskEndpoints,
  ...analyticsEndpoints,
  ...aiGatewayEndpoints,
  ...savedViewEndpoints,
  ...fileEndpoints,
  ...extractionEndpoints,
  ...workflowEndpoints,
  ...contractConfigEndpoints,
  ...dynamicFieldEndpoints,
  ...calendarEndpoints,
  ...auditEndpoints,
  ...tenantAdminEndpoints,
} as const satisfies Endpoints;
