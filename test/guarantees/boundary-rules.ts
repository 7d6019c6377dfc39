/**
 * Where the control plane stores values that cross the boundary. What no rule names only passes through. Columns are of
 * the platform database; `log:` is a line of the log.
 */
export interface Rule {
  /** The message, or the operation and its direction, such as `handOver.output`; `*` for all operations. */
  readonly at: string;
  readonly field: RegExp;
  readonly columns: readonly string[];
}

const rule = (at: string, field: RegExp, ...columns: string[]): Rule => ({ at, field, columns });

/** Values from the agent that the control plane stores. */
export const STORED: readonly Rule[] = [
  // The calendar.
  rule('listOpenLines.output', /^lines\[\]\.paymentId$/, 'calendar_events.line_id'),
  rule('listOpenLines.output', /^lines\[\]\.(contractNo|dueDate)$/, 'calendar_events.digest'),
  // The mail about malware, until it is sent.
  rule(
    'getInfectedFileNotice.output',
    /^notice\.(fileName|contractId|contractNo|signature)$/,
    'mail_outbox.values_sealed',
  ),
  rule('getInfectedFileNotice.input', /^fileId$/, 'mail_outbox.about_id'),
  // Counts of an offboarding.
  rule('handOver.output', /^transferred\./, 'audit_log.changes', 'idempotency_records.answer'),
  rule('handOver.output', /^superiors(Replaced|Cleared)$/, 'idempotency_records.answer'),
  // The last sweep.
  rule('decideReminders.input', /^runId$/, 'reminder_sweeps.last_run_id'),
  // How far a move has come, and what was compared.
  rule('readRowsToMove.output', /^(count|after)$/, 'data_moves.progress'),
  rule('digestRows.output', /^(rows|hash)$/, 'data_moves.progress'),
  rule('listFilesToMove.output', /^files\[\]\.(id|sizeBytes)$/, 'data_moves.progress'),
  // So that the head of the audit is known outside the database that has the audit.
  rule('getAuditHead.output', /^(position|hash|waiting)$/, 'log:audit head'),
  // What an agent states about itself.
  rule('join', /^joinToken$/, 'data_plane_connections.join_token_hash'),
  rule('join', /^key\./, 'data_plane_connections.agent_key'),
  rule('join', /^instanceId$/, 'data_plane_connections.instance_id', 'audit_log.changes'),
  rule('join', /^version$/, 'data_plane_connections.agent_version'),
  rule('join', /^components\[\]/, 'data_plane_connections.components'),
  rule('rotate', /^key\./, 'data_plane_connections.agent_key'),
  rule('hello', /^instanceId$/, 'data_plane_connections.instance_id'),
  rule('hello', /^bootId$/, 'data_plane_connections.boot_id', 'link_sessions.boot_id'),
  rule('hello', /^sequence$/, 'data_plane_connections.sequence'),
  rule('hello', /^version$/, 'data_plane_connections.agent_version'),
  rule('hello', /^protocols\./, 'data_plane_connections.protocol_version'),
  rule('hello', /^operations$/, 'data_plane_connections.operations_hash'),
  rule('hello', /^schema$/, 'data_plane_connections.schema_version'),
  rule('hello', /^report\.components\[\]/, 'data_plane_connections.components'),
  rule('heartbeat', /^components\[\]/, 'data_plane_connections.components'),
  rule('token of a connection', /^jti$/, 'link_tokens_used.jti'),
  rule('token of a connection', /^exp$/, 'link_tokens_used.expires_at'),
  rule('token of a rotation', /^jti$/, 'link_tokens_used.jti'),
  rule('token of a rotation', /^exp$/, 'link_tokens_used.expires_at'),
];

const member = String.raw`(ownerId|ownerSuperiorId|memberId|actorId|recipientId|successorId|successorSuperiorId|superiorIds\[\]|(uploaded|created|updated|deleted|reviewed|accepted)By)`;

/**
 * Values of records that belong to the control plane: it knows them without the agent. To which contract they belong
 * only passes through.
 */
export const OWN: readonly Rule[] = [
  rule('call', /^call\.tenantId$/, 'tenants.id'),
  rule('*', /^moveId$/, 'data_moves.id'),
  rule('call', /^call\.requestId$/, 'audit_log.request_id'),
  rule('call', /^call\.(actor\.id|ownerScope)$/, 'members.id'),
  rule('call', /^call\.actor\.name$/, 'members.name'),
  rule('call', /^call\.actor\.roleCode$/, 'members.role_code'),
  rule('call', /^call\.actor\.ip$/, 'sessions.ip', 'audit_log.ip'),
  rule('call', /^call\.subjectScope\[\]$/, 'members.subject_scope'),
  rule('call', /^call\.controls\{\}$/, 'roles.workflow_controls'),
  rule('call', /^call\.rights\.workflowAutomation$/, 'tenants.plan_code'),
  rule('call', /^call\.rights\./, 'roles.permissions'),
  rule('call', /^call\.(timeZone|reminder\w+|currencyCode|language)$/, 'tenants.settings'),
  rule('*', /(^|\.)(subjectId|subjectIds\[\]|successorScope\[\]|subjects\[\]\.id)$/, 'subjects.id'),
  rule('*', /(^|\.)subjects\[\]\.name$/, 'subjects.name'),
  rule('*', new RegExp(String.raw`(^|\.)(${member}|members\[\]\.id)$`), 'members.id'),
  rule('*', /(^|\.)(members\[\]\.name|memberName)$/, 'members.name'),
  rule('*', /(^|\.)members\[\]\.email$/, 'members.email'),
  rule('*', /(^|\.)members\[\]\.active$/, 'members.status'),
  rule(
    '*',
    /(^|\.)(roleCode|(visible|editable|allowed|workflowAllowed)Roles\[\]|(allowedR|r)oleCodes\[\])$/,
    'roles.code',
  ),
  rule('*', /(^|\.)(channelId|notifyChannelId|lastChannelId|channel\.id)$/, 'notification_channels.id'),
  rule('*', /^channel\.kind$/, 'notification_channels.kind'),
  rule('challenge: answer', /^controlPlane$/, 'setting:PUBLIC_URL'),
  rule('join: answer', /^controlPlane$/, 'setting:PUBLIC_URL'),
  rule('join: answer', /^connectionId$/, 'data_plane_connections.id'),
  rule('join: answer', /^accessMode$/, 'data_plane_connections.access_mode'),
  ...['join: answer', 'welcome'].flatMap((at) => [
    rule(at, /^tenant\.id$/, 'tenants.id'),
    rule(at, /^tenant\.slug$/, 'tenants.slug'),
    rule(at, /^tenant\.active$/, 'tenants.status'),
    rule(at, /^tenant\./, 'tenants.settings'),
    rule(at, /^keys\[\]/, 'link_keys.public_jwk'),
  ]),
  rule('notice tenant', /^id$/, 'tenants.id'),
  rule('notice tenant', /^slug$/, 'tenants.slug'),
  rule('notice tenant', /^active$/, 'tenants.status'),
  rule('notice tenant', /^/, 'tenants.settings'),
  rule('notice keys', /^\[\]/, 'link_keys.public_jwk'),
  rule('welcome', /^sid$/, 'link_sessions.sid'),
  rule('welcome', /^protocol$/, 'data_plane_connections.protocol_version'),
  rule('rotate: answer', /^oldKeyUntil$/, 'data_plane_connections.previous_key_until'),
  rule('token of a request', /^aud$/, 'data_plane_connections.id'),
  rule('token of a request', /^sub$/, 'members.id'),
  rule('token of a request', /^sid$/, 'link_sessions.sid'),
  rule('token of a request', /^tid$/, 'tenants.id'),
  rule('token of a reply', /^iss$/, 'data_plane_connections.id'),
  rule('token of a reply', /^sid$/, 'link_sessions.sid'),
  rule('token of a connection', /^(iss|sub)$/, 'data_plane_connections.id'),
  rule('token of a rotation', /^(iss|sub)$/, 'data_plane_connections.id'),
];

/** What the columns have, where a name does not say it. */
export const COLUMNS: Readonly<Record<string, string>> = {
  'calendar_events.digest':
    'HMAC-SHA256 of day, contract number and time zone, with a key of the control plane. In this edition an event shows the contract number and its day, and nothing else.',
  'mail_outbox.values_sealed':
    'The values of a mail that waits to be sent, encrypted with the secret keys of the control plane; deleted when the mail was sent or is given up.',
  'audit_log.changes': 'Of an offboarding: how many records were transferred. Of a join: the id of the installation.',
  'idempotency_records.answer': 'The answer to an offboarding with an idempotency key: counts. Kept for 24 hours.',
  'data_plane_connections.join_token_hash': 'SHA-256 of the join token.',
  'log:audit head':
    'How many events the audit of the organisation has, and the keyed hash of the last one, once a day.',
};

/** The third party, or the file, to which the control plane passes what it does not store. */
export const PASSED_ON = {
  api: 'Answers to members and API clients, exports among them, go to whoever called the API.',
  channel:
    'Texts of reminders and notices (getReminderMessage, getWorkflowNotice, getInfectedFileNotice) go to the notification channel that the organisation configured, or to a mail server.',
  calendar:
    'The contract number and due date of open payment lines (listOpenLines) go to the calendar that an administrator connected.',
} as const;
