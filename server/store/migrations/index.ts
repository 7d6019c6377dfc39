import type { Migration } from '../../../data-plane-agent/base/database/migrator.js';
import { platform } from './0001-platform.js';
import { mfa } from './0002-mfa.js';
import { passkeys } from './0003-passkeys.js';
import { sso } from './0004-sso.js';
import { mailInvitations } from './0005-mail-invitations.js';
import { tenantAdmin } from './0006-tenant-admin.js';
import { auditChain } from './0007-audit-chain.js';
import { waysIn } from './0008-ways-in.js';
import { ssoBrowser } from './0009-sso-browser.js';
import { auditRepeats } from './0010-audit-repeats.js';
import { channelTargets } from './0011-channel-targets.js';
import { takeover } from './0012-takeover.js';
import { askers } from './0013-askers.js';
import { channelDelivery } from './0014-channel-delivery.js';
import { calendar } from './0015-calendar.js';
import { reminderSweeps } from './0016-reminder-sweeps.js';
import { links } from './0017-links.js';
import { dataMoves } from './0018-data-moves.js';

/** The platform database's steps, in order. One that has landed is never edited. */
export const PLATFORM_MIGRATIONS: readonly Migration[] = [
  platform,
  mfa,
  passkeys,
  sso,
  mailInvitations,
  tenantAdmin,
  auditChain,
  waysIn,
  ssoBrowser,
  auditRepeats,
  channelTargets,
  takeover,
  askers,
  channelDelivery,
  calendar,
  reminderSweeps,
  links,
  dataMoves,
];
