import type { SignInChange } from './values.js';
import type { Wording } from './wording.js';

const SIGN_IN_CHANGES: Readonly<Record<SignInChange, string>> = {
  authenticator_added: 'An authenticator app was added to',
  authenticator_removed: 'The authenticator app was removed from',
  passkey_added: 'A passkey was added to',
  passkey_removed: 'A passkey was removed from',
  email_changed: 'Another email address was set for',
};

export const english: Wording = {
  login_code: ({ tenantName, code, minutes }, product) => ({
    subject: `Your sign-in code for ${tenantName}`,
    paragraphs: [
      `Use this code to finish signing in to ${tenantName} on ${product}. It is good for ${minutes} minutes and works once.`,
    ],
    code,
    caution: 'If you are not signing in, somebody knows your password: change it now. Never tell this code to anybody.',
  }),
  invitation: ({ tenantName, inviterName, link, days }, product) => ({
    subject: `${inviterName} invites you to ${tenantName}`,
    paragraphs: [
      `${inviterName} has invited you to join ${tenantName} on ${product}.`,
      `The invitation is good for ${days} days and works once.`,
    ],
    action: { label: 'Accept the invitation', link },
    caution: 'If you do not know the sender, ignore this mail.',
  }),
  password_reset: ({ tenantName, link, hours }, product) => ({
    subject: `Set a new password for ${tenantName}`,
    paragraphs: [
      `Somebody, probably you, asked to set a new password for your account of ${tenantName} on ${product}.`,
      `The link is good for ${hours} hours and works once.`,
    ],
    action: { label: 'Set a new password', link },
    caution: 'If it was not you, ignore this mail: your password stays as it is.',
  }),
  password_changed: ({ tenantName }, product) => ({
    subject: `Your password for ${tenantName} was changed`,
    paragraphs: [
      `The password of your account of ${tenantName} on ${product} was changed, and all of its sessions were ended.`,
    ],
    caution: 'If it was not you, set a new password at once and tell an administrator of your organisation.',
  }),
  sso_linked: ({ tenantName, providerName }, product) => ({
    subject: `${providerName} now signs you in to ${tenantName}`,
    paragraphs: [
      `Somebody, probably you, has signed in to your account of ${tenantName} on ${product} through ${providerName} for the first time. From now on it opens your account without your password.`,
    ],
    caution: 'If it was not you, tell an administrator of your organisation at once.',
  }),
  sign_in_changed: ({ tenantName, change }, product) => ({
    subject: `How you sign in to ${tenantName} was changed`,
    paragraphs: [
      `${SIGN_IN_CHANGES[change]} your account of ${tenantName} on ${product}.`,
      'All of its sessions were ended but the one in which this was done.',
    ],
    caution: 'If it was not you, set a new password at once and tell an administrator of your organisation.',
  }),
  admin_changed: ({ tenantName, change }, product) => ({
    subject:
      change === 'gained' ? `You may now administer ${tenantName}` : `You may no longer administer ${tenantName}`,
    paragraphs: [
      change === 'gained'
        ? `Your account of ${tenantName} on ${product} has got the right to administer the organisation.`
        : `The right to administer the organisation was taken from your account of ${tenantName} on ${product}. For seven days nobody but you and the owner can set another address for it.`,
    ],
    caution: 'If you did not expect this, ask the owner of your organisation at once.',
  }),
  owner_transferred: ({ tenantName, fromName, toName }, product) => ({
    subject: `${tenantName} has a new owner`,
    paragraphs: [
      `The ownership of ${tenantName} on ${product} has gone from ${fromName} to ${toName}. ${fromName} is now an administrator.`,
    ],
    caution: 'If you did not expect this, ask the new owner or an administrator of your organisation.',
  }),
};
