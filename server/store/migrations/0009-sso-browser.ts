import type { Migration } from '../../../data-plane-agent/base/database/migrator.js';

/** To whom a code of single sign-on may be told: to the browser that began, by the digest of its cookie, or to a program on loopback. Codes from before are bound to no browser and are worth nothing. */
export const ssoBrowser: Migration = {
  id: '0009-sso-browser',
  statements: (t) => [
    `ALTER TABLE sso_flows ADD COLUMN bound_to ${t.text} NOT NULL DEFAULT 'browser'`,
    `ALTER TABLE sso_codes ADD COLUMN bound_to ${t.text} NOT NULL DEFAULT 'browser'`,
    `ALTER TABLE sso_codes ADD COLUMN browser_hash ${t.text}`,
  ],
};
