import type { SignInChange } from './values.js';
import type { Wording } from './wording.js';

const SIGN_IN_CHANGES: Readonly<Record<SignInChange, string>> = {
  authenticator_added: 'An authenticator app was added to',
  authenticator_removed: 'The authenticator app was removed from',
  passkey_added: 'A passkey was added to',
  passkey_removed: 'A passkey was removed from',
  email_changed: 'The email address was changed for',
  password_changed: 'The password was changed for',
};

export const english: Wording = {
  login_code: ({ tenantName, code, minutes }, product) => ({
    subject: `Your sign-in code for ${tenantName}`,
    paragraphs: [
      `Use this code to finish signing in to ${tenantName} on ${product}. It is valid for ${minutes} minutes and can be used once.`,
    ],
    code,
    caution:
      'If you are not signing in, someone else knows your password: change it now. Do not share this code with anyone.',
  }),
  invitation: ({ tenantName, inviterName, link, days }, product) => ({
    subject: `${inviterName} invites you to ${tenantName}`,
    paragraphs: [
      `${inviterName} has invited you to join ${tenantName} on ${product}.`,
      `The invitation is valid for ${days} days and can be used once.`,
    ],
    action: { label: 'Accept the invitation', link },
    caution: 'If you do not know the sender, ignore this mail.',
  }),
  password_reset: ({ tenantName, link, hours }, product) => ({
    subject: `Set a new password for ${tenantName}`,
    paragraphs: [
      `Someone, probably you, requested a new password for your account at ${tenantName} on ${product}.`,
      `The link is valid for ${hours} hours and can be used once.`,
    ],
    action: { label: 'Set a new password', link },
    caution: 'If it was not you, ignore this mail: your password will not change.',
  }),
  password_changed: ({ tenantName }, product) => ({
    subject: `Your password for ${tenantName} was changed`,
    paragraphs: [
      `The password of your account at ${tenantName} on ${product} was changed, and all of its sessions were ended.`,
    ],
    caution: 'If it was not you, set a new password immediately and notify an administrator of your organisation.',
  }),
  sso_linked: ({ tenantName, providerName }, product) => ({
    subject: `${providerName} now signs you in to ${tenantName}`,
    paragraphs: [
      `Someone, probably you, has signed in to your account at ${tenantName} on ${product} through ${providerName} for the first time. From now on, signing in through ${providerName} does not require your password.`,
    ],
    caution: 'If it was not you, notify an administrator of your organisation immediately.',
  }),
  sign_in_changed: ({ tenantName, change }, product) => ({
    subject: `Your sign-in method for ${tenantName} was changed`,
    paragraphs: [
      `${SIGN_IN_CHANGES[change]} your account at ${tenantName} on ${product}.`,
      'All of its sessions were ended, except the one in which this change was made.',
    ],
    caution: 'If it was not you, set a new password immediately and notify an administrator of your organisation.',
  }),
  admin_changed: ({ tenantName, change }, product) => ({
    subject:
      change === 'gained' ? `You may now administer ${tenantName}` : `You may no longer administer ${tenantName}`,
    paragraphs: [
      change === 'gained'
        ? `Your account at ${tenantName} on ${product} was given permission to administer the organisation.`
        : `The permission to administer the organisation was removed from your account at ${tenantName} on ${product}. For seven days, only you and the owner can change its email address.`,
    ],
    caution: 'If you did not expect this, ask the owner of your organisation immediately.',
  }),
  file_infected: ({ tenantName, fileName, contractNo, signature, link }, product) => ({
    subject: `Malware found in ${fileName}`,
    paragraphs: [
      `The scanner found malware in a file that was uploaded to ${tenantName} on ${product}. The file cannot be downloaded.`,
      'Please ask the sender for a clean copy, and have the device checked from which it came.',
    ],
    facts: [
      { label: 'File', value: fileName },
      ...(contractNo === null ? [] : [{ label: 'Contract', value: contractNo }]),
      { label: 'Found', value: signature },
    ],
    ...(link === null ? {} : { action: { label: 'Open the contract', link } }),
  }),
  owner_transferred: ({ tenantName, fromName, toName }, product) => ({
    subject: `${tenantName} has a new owner`,
    paragraphs: [
      `The ownership of ${tenantName} on ${product} was transferred from ${fromName} to ${toName}. ${fromName} is now an administrator.`,
    ],
    caution: 'If you did not expect this, ask the new owner or an administrator of your organisation.',
  }),
};
