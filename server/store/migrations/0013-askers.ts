import type { Migration } from '../../../data-plane-agent/base/database/migrator.js';

/** Who began a sign-in that is under way, as a digest: so that one asker leaves no more than so many rows. Of those from before it is not known; they end within minutes. */
export const askers: Migration = {
  id: '0013-askers',
  statements: (t) => [
    `ALTER TABLE passkey_flows ADD COLUMN asker ${t.text}`,
    'CREATE INDEX passkey_flows_by_asker ON passkey_flows (asker, expires_at, flow_hash)',
    `ALTER TABLE sso_flows ADD COLUMN asker ${t.text}`,
    'CREATE INDEX sso_flows_by_asker ON sso_flows (asker, expires_at, state_hash)',
  ],
};
