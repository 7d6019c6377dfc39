import type { Migration } from '../../../data-plane-agent/base/database/migrator.js';

/** Where chats and webhooks lead is a secret, since their addresses carry tokens: it is sealed, and `target` shows the host alone. What was there before is sealed at the next start. */
export const channelTargets: Migration = {
  id: '0011-channel-targets',
  statements: (t) => [`ALTER TABLE notification_channels ADD COLUMN target_sealed ${t.text}`],
};
