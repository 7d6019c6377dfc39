import type { Endpoint } from './endpoint.js';
import type { Json } from './openapi-schemas.js';

interface Tag {
  readonly name: string;
  readonly description: string;
  /** Patterns of the routes with this tag, such as `GET /contracts/:id/files`. The first tag that matches is used. */
  readonly routes: readonly RegExp[];
}

/** The groups of the reference in their order: by subject, not by path. */
const TAGS: readonly Tag[] = [
  {
    name: 'Sign-in',
    description:
      'Getting an access token: with a password, a passkey or single sign-on. Renewing it, signing out, and resetting a forgotten password.',
    routes: [/ \/auth\/(login|refresh|logout|sso|password-reset)\b/, / \/auth\/passkeys\/login\b/],
  },
  {
    name: 'Registration',
    description: 'Creating an organisation with its first member, the owner.',
    routes: [/ \/auth\/(register|redeem)$/],
  },
  {
    name: 'Account',
    description:
      "The signed-in member: permissions, name, preferences, and the means of signing in (authenticator, passkeys). Members change them for themselves; an administrator's endpoints are under Members and invitations.",
    routes: [/ \/auth\/(me|profile|preferences|password|mfa|passkeys)\b/],
  },
  {
    name: 'Sessions',
    description: 'Where a member is signed in, and ending sessions.',
    routes: [/ \/auth\/sessions\b/, / \/tenant-admin\/members\/:id\/sessions$/],
  },
  {
    name: 'Imports',
    description: 'Contracts from a CSV file, a workbook or a list, with a preview and a report of each row.',
    routes: [/ \/contracts\/import\b/],
  },
  {
    name: 'Exports',
    description: 'Contract data as CSV files.',
    routes: [/ \/(contracts|invoices|payments)\/export$/],
  },
  {
    name: 'Extraction',
    description: 'Reading the fields of a contract from a text or a scanned file, and reviewing what was read.',
    routes: [/ \/contracts\/(extract|extractions)\b/],
  },
  {
    name: 'Payment plan and receipts',
    description: 'The payment lines of contracts: what is due when, and what was received.',
    routes: [/ \/payments\b(?!\/:paymentId\/invoice$)/, / \/contracts\/:id\/payment/],
  },
  {
    name: 'Invoices',
    description: 'Invoice records of contracts: drafts, issued, void and reversed ones.',
    routes: [/ \/invoices\b/, / \/contracts\/:id\/invoices\b/, / \/payments\/:paymentId\/invoice$/],
  },
  {
    name: 'Tasks',
    description: 'Work that a contract requires: deliveries, acceptance, and other fulfillment tasks.',
    routes: [/ \/contracts\/:id\/fulfillment-tasks\b/],
  },
  {
    name: 'Workflow',
    description:
      "Moving a contract through its lifecycle, locking it, and the trail of events. Needs the plan's `workflowAutomation`.",
    routes: [/ \/contracts\/:id\/workflow\b/],
  },
  {
    name: 'Files',
    description:
      'Files of contracts and their payment lines, invoices and tasks. A file is uploaded in three steps: presign, upload to the returned URL, confirm.',
    routes: [/ \/files\b/, / \/contracts\/:id\/files\b/],
  },
  {
    name: 'Contracts',
    description: 'Contracts with their terms and notes, their history, and the trash.',
    routes: [/ \/contracts\b/],
  },
  {
    name: 'Collections',
    description: 'Overdue and upcoming payment lines, their reminders, and holds that stop reminders.',
    routes: [/ \/collections\b/],
  },
  {
    name: 'Analytics',
    description: 'Totals, cash flow and distributions over all contracts that the caller may see.',
    routes: [/ \/analytics\b/],
  },
  {
    name: 'Views',
    description: 'Saved views of the list of contracts: filters, columns and sorting.',
    routes: [/ \/saved-views\b/],
  },
  {
    name: 'Custom fields',
    description: "Fields of contracts that an organisation defines. Needs the plan's `customFields`.",
    routes: [/ \/dynamic-fields\b/],
  },
  {
    name: 'Contract configuration',
    description: 'Contract types, and lifecycle templates with their stages and transitions.',
    routes: [/ \/contract-config\b/],
  },
  {
    name: 'Members and invitations',
    description:
      "The members of the organisation, invitations, the transfer of a leaving member's contracts, and ownership.",
    routes: [/ \/(auth|tenant-admin)\/invitations\b/, / \/tenant-admin\/(members|owner-transfer)\b/],
  },
  {
    name: 'Roles and permissions',
    description: 'The permissions of each role.',
    routes: [/ \/tenant-admin\/(roles|permissions)\b/],
  },
  {
    name: 'Organisation',
    description: 'Settings of the organisation, its subject companies, and the steps of setting it up.',
    routes: [/ \/tenant-admin\/(settings|subjects|bootstrap-status)\b/],
  },
  {
    name: 'Channels',
    description: 'Notification channels, through which reminders are sent.',
    routes: [/ \/tenant-admin\/notification-channels\b/],
  },
  {
    name: 'Data planes',
    description: 'Where the contract data of the organisation is stored.',
    routes: [/ \/tenant-admin\/data-plane\b/],
  },
  {
    name: 'Calendar',
    description: 'Due dates in an external calendar.',
    routes: [/ \/calendar-sync\b/],
  },
  {
    name: 'AI gateway',
    description: "Checking a proposed AI request against the organisation's policy.",
    routes: [/ \/ai-gateway\b/],
  },
  { name: 'Audit', description: 'The record of changes, with their authors and times.', routes: [/ \/audit\b/] },
  { name: 'Service', description: 'The state of this installation.', routes: [/ \/health\b/] },
];

/** The tag of an endpoint. Throws if its route matches none: a new subject needs a tag here. */
export function tagOf({ route }: Pick<Endpoint, 'route'>): string {
  const tag = TAGS.find(({ routes }) => routes.some((pattern) => pattern.test(route)));
  if (!tag) throw new Error(`the endpoint ${route} matches no tag in openapi-tags.ts`);
  return tag.name;
}

/** The tags of these endpoints with their descriptions, in the order of the reference. */
export function tagsOf(endpoints: readonly Endpoint[]): readonly Json[] {
  const used = new Set(endpoints.map(tagOf));
  return TAGS.filter(({ name }) => used.has(name)).map(({ name, description }) => ({ name, description }));
}
