/**
 * The routes of the API document, maintained by hand and independently of the endpoints: route, permission, and the
 * required plan feature if there is one. The tests compare the endpoints with this list, so that changes of routes and
 * permissions are noticed.
 */
export interface Promised {
  readonly route: string;
  /** `public`, `bearer` for any member, or a module with its level in the format of a 403. */
  readonly needs: string;
  readonly feature: 'workflowAutomation' | 'customFields' | 'aiGateway' | undefined;
}

/** Part 4 of the API document. */
export const API_DOCUMENT = rows(`
  POST /auth/register | public
  POST /auth/redeem | public
  POST /auth/login | public
  POST /auth/login/resolve | public
  POST /auth/login/mfa/email | public
  POST /auth/refresh | public
  POST /auth/logout | bearer
  GET /auth/me | bearer
  PATCH /auth/preferences | bearer
  PATCH /auth/profile | bearer
  GET /auth/mfa/status | bearer
  POST /auth/mfa/enroll/start | bearer
  POST /auth/mfa/enroll/confirm | bearer
  POST /auth/mfa/disable | bearer
  GET /auth/passkeys | bearer
  POST /auth/passkeys/register/options | bearer
  POST /auth/passkeys/register/verify | bearer
  DELETE /auth/passkeys/:id | bearer
  POST /auth/passkeys/login/options | public
  POST /auth/passkeys/login/verify | public
  GET /auth/sso/providers | public
  GET /auth/sso/:provider/start | public
  GET /auth/sso/:provider/callback | public
  POST /auth/sso/exchange | public
  POST /auth/invitations/accept | public
  POST /auth/password-reset/request | public
  POST /auth/password-reset/confirm | public

  GET /health | public

  GET /contracts | contract_view (view)
  GET /contracts/:id | contract_view (view)
  POST /contracts | contract_edit (edit)
  PATCH /contracts/:id | contract_edit (edit)
  DELETE /contracts/:id | contract_delete (edit)
  POST /contracts/bulk-delete | contract_delete (edit)
  POST /contracts/bulk-attachment | contract_edit (edit)
  POST /contracts/import | contract_edit (edit)
  GET /contracts/export | export (edit)
  POST /contracts/export | export (edit)
  POST /contracts/extract | contract_edit (edit)
  PATCH /contracts/extractions/:runId/review | contract_edit (edit)
  POST /contracts/:id/notes | contract_edit (edit)
  POST /contracts/:id/terms | contract_edit (edit)
  POST /contracts/:id/payments | payment_entry (edit)
  POST /contracts/:id/fulfillment-tasks | contract_edit (edit)
  PATCH /contracts/:id/fulfillment-tasks/:taskId | contract_edit (edit)
  POST /contracts/:id/invoices | invoice (edit)

  POST /contracts/:id/workflow/transition | contract_edit (edit) | workflowAutomation
  POST /contracts/:id/workflow/lock | admin (edit) | workflowAutomation
  GET /contracts/:id/workflow/events | contract_view (view)

  GET /payments | payment_entry (view)
  GET /payments/stats | payment_entry (view)
  PATCH /payments/:paymentId/receipt | payment_entry (edit)
  PATCH /payments/:paymentId/invoice | invoice (edit)

  GET /collections | collection (view)
  GET /collections/preview | collection (view)
  POST /collections/remind | collection (edit)
  POST /collections/remind-bulk | collection (edit)
  POST /collections/run-due-reminders | collection (edit)

  GET /tenant-admin/settings | admin (edit)
  GET /tenant-admin/bootstrap-status | admin (edit)
  PATCH /tenant-admin/settings | admin (edit)
  GET /tenant-admin/subjects | admin (edit)
  POST /tenant-admin/subjects | admin (edit)
  PATCH /tenant-admin/subjects/:id | admin (edit)
  DELETE /tenant-admin/subjects/:id | admin (edit)
  GET /tenant-admin/members | admin (edit)
  PATCH /tenant-admin/members/:id | admin (edit)
  GET /tenant-admin/members/:id/handover-preview | admin (edit)
  POST /tenant-admin/members/:id/offboard | admin (edit)
  POST /tenant-admin/owner-transfer | admin (edit)
  POST /tenant-admin/invitations | admin (edit)
  GET /tenant-admin/invitations | admin (edit)
  POST /tenant-admin/invitations/:id/resend | admin (edit)
  DELETE /tenant-admin/invitations/:id | admin (edit)
  GET /tenant-admin/roles | admin (edit)
  GET /tenant-admin/permissions | admin (edit)
  PATCH /tenant-admin/roles/:code/permissions | admin (edit)
  PATCH /tenant-admin/roles/:code/workflow-controls | admin (edit)
  GET /tenant-admin/notification-channels | admin (edit)
  POST /tenant-admin/notification-channels | admin (edit)
  PATCH /tenant-admin/notification-channels/:id | admin (edit)
  POST /tenant-admin/notification-channels/:id/test | admin (edit)
  GET /tenant-admin/data-plane | admin (edit)
  POST /tenant-admin/data-plane | admin (edit)
  DELETE /tenant-admin/data-plane/:kind | admin (edit)

  POST /files/presign | contract_view (view)
  POST /files/confirm | contract_view (view)
  GET /files/:id/download | contract_view (view)

  GET /saved-views/contracts | contract_view (view)
  POST /saved-views/contracts | contract_view (view)
  DELETE /saved-views/:id | contract_view (view)

  GET /analytics/summary | sensitive_data (view)
  GET /analytics/cashflow | sensitive_data (view)
  GET /analytics/distribution | sensitive_data (view)

  GET /contract-config/catalog | contract_view (view)
  POST /contract-config/types | admin (edit) | workflowAutomation
  PATCH /contract-config/types/:id | admin (edit) | workflowAutomation
  POST /contract-config/lifecycle/templates/:templateId/stages | admin (edit) | workflowAutomation
  PATCH /contract-config/lifecycle/stages/:id | admin (edit) | workflowAutomation
  POST /contract-config/lifecycle/templates/:templateId/transitions | admin (edit) | workflowAutomation
  PATCH /contract-config/lifecycle/transitions/:id | admin (edit) | workflowAutomation

  GET /dynamic-fields | custom_fields (view)
  POST /dynamic-fields/commands | admin (edit) | customFields

  POST /ai-gateway/inspect | contract_view (view) | aiGateway
  GET /calendar-sync/status | admin (edit)
  GET /calendar-sync/start | admin (edit)
  GET /calendar-sync/callback | public
  POST /calendar-sync/sync-open-payments | admin (edit)
`);

/** Our additions. */
export const EXTENSIONS = rows(`
  PATCH /payments/:paymentId | payment_entry (edit)
  DELETE /payments/:paymentId | payment_entry (edit)
  GET /payments/:paymentId/receipts | payment_entry (view)
  POST /payments/:paymentId/receipts | payment_entry (edit)
  PATCH /contracts/:id/invoices/:invoiceId | invoice (edit)
  PATCH /contracts/:id/notes/:noteId | contract_edit (edit)
  DELETE /contracts/:id/notes/:noteId | contract_edit (edit)
  PATCH /contracts/:id/terms/:termId | contract_edit (edit)
  DELETE /contracts/:id/terms/:termId | contract_edit (edit)
  GET /contracts/:id/history | contract_view (view)
  GET /audit | admin (edit)
  POST /contract-config/lifecycle/templates | admin (edit) | workflowAutomation
  PATCH /contract-config/lifecycle/templates/:id | admin (edit) | workflowAutomation
  POST /contracts/:id/restore | contract_delete (edit)
  GET /contracts/trash | contract_delete (edit)
  PUT /collections/:paymentId/hold | collection (edit)
  DELETE /collections/:paymentId/hold | collection (edit)
  GET /collections/deliveries | collection (view)
  POST /contracts/import/preview | contract_edit (edit)
  GET /contracts/import/batches/:id | contract_edit (edit)
  GET /contracts/import/batches/:id/errors.csv | contract_edit (edit)
  GET /contracts/import/template.csv | contract_edit (edit)
  GET /files/:id | contract_view (view)
  GET /contracts/:id/files | contract_view (view)
  GET /contracts/:id/invoices | contract_view (view)
  GET /invoices | invoice (view)
  GET /invoices/export | export (edit)
  GET /contracts/extractions/:runId | contract_edit (edit)
  DELETE /tenant-admin/notification-channels/:id | admin (edit)
  PATCH /saved-views/:id | contract_view (view)
  POST /auth/password | bearer
  GET /auth/sessions | bearer
  DELETE /auth/sessions/:id | bearer
  DELETE /auth/sessions | bearer
  DELETE /tenant-admin/members/:id/sessions | admin (edit)
`);

/** Public pages besides the endpoints; paths from the server's root. */
export const PAGES = [
  '/',
  '/livez',
  '/readyz',
  '/.well-known/jwks.json',
  '/docs',
  '/docs/guide/quick-start',
  '/api/v1/openapi.json',
] as const;

function rows(text: string): readonly Promised[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const [route = '', needs = '', feature] = line.split(' | ');
      return { route, needs, feature: feature as Promised['feature'] };
    });
}
