import { PARTICULAR } from './described-particulars.js';

/** The description of a path parameter, by the noun before it: `/contracts/:id`, `/roles/:code`. */
export function ofPathParameter(path: string, name: string): string | undefined {
  if (name !== 'id') return PATH_PARAMETERS[name];
  const noun = NOUNS[path.split('/:id')[0]?.split('/').at(-1) ?? ''];
  return noun === undefined ? undefined : `The id of the ${noun}. An id that is not a UUID is 404.`;
}

/** The description of a query parameter without its own. */
export const ofQueryParameter = (name: string): string | undefined =>
  QUERY_PARAMETERS[name] ?? PARTICULAR['ContractExport']?.[name];

const NOUNS: Readonly<Record<string, string>> = {
  batches: 'import',
  contracts: 'contract',
  files: 'file',
  invitations: 'invitation',
  members: 'member',
  'notification-channels': 'notification channel',
  passkeys: 'passkey',
  'saved-views': 'view',
  sessions: 'session',
  stages: 'stage',
  subjects: 'subject company',
  templates: 'lifecycle template',
  transitions: 'transition',
  types: 'contract type',
};

const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  paymentId: 'The id of the payment line.',
  noteId: 'The id of the note.',
  termId: 'The id of the term.',
  taskId: 'The id of the task.',
  invoiceId: 'The id of the invoice record.',
  runId: 'The id of the extraction.',
  templateId: 'The id of the lifecycle template.',
  provider: 'The id of a provider, as `GET /auth/sso/providers` lists it.',
  code: 'The code of the role.',
  kind: 'The kind of the connection.',
};

const QUERY_PARAMETERS: Readonly<Record<string, string>> = {
  page: 'The number of the page, from 1.',
  pageSize: 'The maximum number of records of the page.',
  sort: 'The field to sort by. Without it the newest come first.',
  contractId: 'Only records of this contract.',
  paymentId: 'Only records of this payment line.',
  tab: 'Which lines: `due` from today on, `overdue` before today, `reconcile` and `invoice` where that has not been done yet, or `all`.',
  language: 'The language of the labels.',
  tenantSlug: "The organisation's short name.",
  state: 'From the provider, unchanged.',
  code: 'From the provider, unchanged.',
  iss: 'From the provider, unchanged.',
  error: 'From the provider: why the sign-in failed.',
};
