import type { SealedColumn } from '../../data-plane-agent/base/database/sealed-columns.js';

/**
 * The encrypted columns of the platform database, to re-encrypt them and to find out whether a key is still used. A
 * test checks that the list is complete.
 */
export const PLATFORM_SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'signing_keys', column: 'private_sealed', place: ['kid'] },
  { table: 'link_keys', column: 'private_sealed', place: ['kid'] },
  { table: 'mfa_totp', column: 'secret_sealed', place: ['tenant_id', 'member_id'] },
  { table: 'login_codes', column: 'code_sealed', place: ['tenant_id', 'member_id'] },
  { table: 'sso_flows', column: 'secrets_sealed', place: ['tenant_id', 'state_hash'] },
  { table: 'calendar_flows', column: 'secrets_sealed', place: ['tenant_id', 'state_hash'] },
  { table: 'calendar_connections', column: 'refresh_sealed', place: ['tenant_id', 'id'] },
  { table: 'calendar_connections', column: 'access_sealed', place: ['tenant_id', 'id'] },
  { table: 'mail_outbox', column: 'values_sealed', place: ['tenant_id', 'id'] },
  { table: 'notification_channels', column: 'secret_sealed', place: ['tenant_id', 'id'] },
  { table: 'notification_channels', column: 'target_sealed', place: ['tenant_id', 'id'] },
  { table: 'idempotency_records', column: 'answer', place: ['tenant_id', 'key'] },
  { table: 'audit_heads', column: 'seal', place: ['chain'] },
];
