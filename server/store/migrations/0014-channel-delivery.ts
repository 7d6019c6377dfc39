import type { Migration } from '../../../data-plane-agent/base/database/migrator.js';

/** How the delivery through each channel went, why a channel is disabled, and its pace (0: nothing was sent recently). */
export const channelDelivery: Migration = {
  id: '0014-channel-delivery',
  statements: (t) => [
    `ALTER TABLE notification_channels ADD COLUMN last_error ${t.text}`,
    `ALTER TABLE notification_channels ADD COLUMN last_error_at ${t.big}`,
    `ALTER TABLE notification_channels ADD COLUMN last_delivered_at ${t.big}`,
    `ALTER TABLE notification_channels ADD COLUMN disabled_reason ${t.text}`,
    `ALTER TABLE notification_channels ADD COLUMN paced_until ${t.big} NOT NULL DEFAULT 0`,
  ],
};
