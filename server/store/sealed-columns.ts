import type { SealedColumn } from '../../data-plane-agent/base/database/sealed-columns.js';

/**
 * What the platform database holds under the key ring: to re-seal it, and to know when a key may go. A test finds every
 * sealed text in here.
 */
export const PLATFORM_SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'signing_keys', column: 'private_sealed', place: ['kid'] },
  { table: 'mfa_totp', column: 'secret_sealed', place: ['tenant_id', 'member_id'] },
  { table: 'login_codes', column: 'code_sealed', place: ['tenant_id', 'member_id'] },
  { table: 'sso_flows', column: 'secrets_sealed', place: ['tenant_id', 'state_hash'] },
  { table: 'mail_outbox', column: 'values_sealed', place: ['tenant_id', 'id'] },
  { table: 'notification_channels', column: 'secret_sealed', place: ['tenant_id', 'id'] },
  { table: 'notification_channels', column: 'target_sealed', place: ['tenant_id', 'id'] },
  { table: 'idempotency_records', column: 'answer', place: ['tenant_id', 'key'] },
  { table: 'audit_heads', column: 'seal', place: ['chain'] },
];
