import { partial, s } from '../../data-plane-agent/base/schema.js';
import { Component } from '../../data-plane-agent/base/link/messages.js';
import { Warning } from '../../data-plane-agent/plane/contract/records/common.js';
import { HandoverSamples, HandoverTotals } from '../../data-plane-agent/plane/contract/records/ownership.js';
import { CONTROLS } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { LEVELS, MODULES } from '../access/permissions.js';
import { personName } from '../access/person.schemas.js';
import { CHANNEL_KINDS } from '../notifications/channels/index.js';
import { CONNECTION_STATUSES } from '../data-planes/connection-status.js';
import { ACCESS_MODES } from '../store/connections.js';
import { BOOTSTRAP_STEPS } from './bootstrap-status.js';
import { CONNECTION_KIND } from './connections.js';

/** Part 2.15 of the API document, for requests and answers. */
const stamps = { createdAt: s.instant(), updatedAt: s.instant() };
const warnings = s.list(Warning, 100);

export const BootstrapStatus = s.object(
  {
    completed: s.flag(),
    steps: s.list(s.object({ key: s.enum(BOOTSTRAP_STEPS), done: s.flag() }), BOOTSTRAP_STEPS.length),
  },
  { title: 'BootstrapStatus' },
);

export const SubjectCompany = s.object(
  {
    id: s.id(),
    name: s.text(),
    legalName: s.nullable(s.text()),
    taxNo: s.nullable(s.text()),
    defaultPayeeAccount: s.nullable(s.text()),
    defaultPayeeBank: s.nullable(s.text()),
    createdAt: s.instant(),
    updatedAt: s.instant(),
  },
  { title: 'SubjectCompany' },
);

export const SubjectInput = s.object(
  {
    name: s.name({ max: 200 }),
    legalName: s.optional(s.name({ max: 200 })),
    taxNo: s.optional(
      s.name({
        max: 64,
        about:
          'A number of 18 characters is checked as a unified social credit code; a wrong check character causes a warning.',
      }),
    ),
    defaultPayeeAccount: s.optional(s.name({ max: 100 })),
    defaultPayeeBank: s.optional(s.name({ max: 200 })),
  },
  { title: 'SubjectInput' },
);
export const SubjectPatch = partial(SubjectInput, { title: 'SubjectPatch' });
export const SavedSubject = s.object({ ...SubjectCompany.properties, warnings }, { title: 'SavedSubject' });

export const Member = s.object(
  {
    id: s.id(),
    name: s.text({ max: 100 }),
    email: s.text({ max: 254 }),
    roleCode: s.text({ max: 64 }),
    subjectScope: s.nullable(
      s.list(s.id(), 1_000, 'The subject companies visible to the member; null means all, an empty list none.'),
    ),
    status: s.enum(['active', 'disabled']),
    mfaEnrolled: s.flag('Whether the member has an authenticator.'),
    lastLoginAt: s.nullable(s.instant()),
    ...stamps,
  },
  { title: 'Member' },
);
export const MemberPatch = s.object(
  {
    name: s.omittable(personName()),
    email: s.omittable(s.email()),
    roleCode: s.omittable(s.text({ max: 64 })),
    subjectScope: s.optional(s.list(s.id(), 1_000, 'null: all subject companies. An empty list: none.')),
    status: s.omittable(s.enum(['active', 'disabled'])),
  },
  { title: 'MemberPatch' },
);

export const HandoverPreview = s.object(
  {
    member: Member,
    totals: HandoverTotals,
    samples: HandoverSamples,
    blockers: s.list(s.object({ code: s.text({ max: 64 }), message: s.text() }), 10, 'What prevents the offboarding.'),
    suggestedSuccessors: s.list(
      Member,
      20,
      'Active members who can see all records to transfer, members with the same role first.',
    ),
  },
  { title: 'HandoverPreview' },
);
const yes = s.optional(s.flag('Defaults to true.'));
export const Offboarding = s.object(
  {
    successorUserId: s.id(),
    transferContracts: yes,
    transferContractSupervisors: yes,
    transferTasks: yes,
    transferReminders: yes,
    transferSavedViews: yes,
    disableMember: yes,
  },
  { title: 'Offboarding' },
);
export const Offboarded = s.object(
  {
    transferred: HandoverTotals,
    disabled: s.flag(),
    auditId: s.id('The id of the audit event.'),
    warnings,
  },
  { title: 'Offboarded' },
);
export const OwnerTransfer = s.object({ newOwnerId: s.id() }, { title: 'OwnerTransfer' });
export const OwnerTransferred = s.object({ owner: Member, previousOwner: Member }, { title: 'OwnerTransferred' });

const levels = s.object(Object.fromEntries(MODULES.map((module) => [module, s.enum(LEVELS)])));
const controls = s.map(
  s.enum(CONTROLS),
  500,
  'By stage category (all eight), and by the codes of single stages, which take precedence over their category.',
);
export const Role = s.object(
  {
    code: s.text({ max: 64 }),
    name: s.text({ max: 80 }),
    builtIn: s.flag(),
    memberCount: s.integer(),
    permissions: levels,
    workflowControls: controls,
  },
  { title: 'Role' },
);
export const PermissionsOverview = s.object(
  {
    modules: s.list(s.enum(MODULES), MODULES.length),
    levels: s.list(s.enum(LEVELS), LEVELS.length),
    controls: s.list(s.enum(CONTROLS), CONTROLS.length),
    roles: s.list(Role, 100),
  },
  { title: 'PermissionsOverview' },
);
const some = <V extends readonly string[]>(keys: readonly string[], values: V) =>
  s.object(Object.fromEntries(keys.map((key) => [key, s.omittable(s.enum(values))])));
export const PermissionsPatch = s.object({ permissions: some(MODULES, LEVELS) }, { title: 'PermissionsPatch' });
export const ControlsPatch = s.object(
  {
    controls: s.map(
      s.nullable(s.enum(CONTROLS)),
      500,
      'By stage category, or by the code of a stage of any lifecycle template, which takes precedence over its category. `null` removes the control of a stage code.',
    ),
  },
  { title: 'WorkflowControlsPatch' },
);

/** The neutral names of the API document for the five chat services, in order. */
export const CHAT_NAMES = {
  chat_a: 'slack',
  chat_b: 'teams',
  chat_c: 'feishu',
  chat_d: 'dingtalk',
  chat_e: 'wecom',
} as const;
const neutral = ['chat_a', 'chat_b', 'chat_c', 'chat_d', 'chat_e'] as const;

const channelFields = {
  name: s.optional(s.name({ max: 100, about: 'Defaults to the kind.' })),
  target: s.optional(
    s.name({
      max: 2_000,
      about:
        'An https URL; for `email`, addresses separated by commas, or empty to notify the owner of the line. Answers contain only the host of a URL.',
    }),
  ),
  enabled: s.optional(s.flag('Defaults to true.')),
  isDefault: s.optional(
    s.flag('A tenant has at most one default channel. The first enabled channel becomes the default.'),
  ),
  secret: s.optional(
    s.verbatim({
      max: 1_000,
      about:
        'The secret that signs messages. It is stored encrypted and never returned; null or empty keeps the present one.',
    }),
  ),
  clearSecret: s.optional(s.flag('Whether to remove the secret.')),
};
export const ChannelInput = s.object(
  { kind: s.enum([...CHANNEL_KINDS, ...neutral]), ...channelFields },
  { title: 'NotificationChannelInput' },
);
export const ChannelPatch = s.object(channelFields, { title: 'NotificationChannelPatch' });
export const Channel = s.object(
  {
    id: s.id(),
    kind: s.enum(CHANNEL_KINDS),
    name: s.text({ max: 100 }),
    target: s.nullable(s.text({ max: 20_000 })),
    enabled: s.flag(),
    isDefault: s.flag(),
    hasSecret: s.flag(),
    lastError: s.nullable(
      s.text({
        max: 500,
        about: 'Why the last failed message was not delivered, also if a later one was: compare the two times.',
      }),
    ),
    lastErrorAt: s.nullable(s.instant()),
    lastDeliveredAt: s.nullable(s.instant()),
    disabledReason: s.nullable(
      s.enum(
        ['gone'],
        '`gone`: the receiver answered 410, so the channel was disabled. Cleared when the channel is enabled or gets another target.',
      ),
    ),
    ...stamps,
  },
  { title: 'NotificationChannel' },
);
export const ChannelTest = s.object(
  {
    delivered: s.flag('Whether the receiver, or the mail server, accepted the message.'),
    status: s.nullable(s.integer({ max: 999, about: 'The status that the receiver answered; `null` for mail.' })),
    error: s.nullable(
      s.text({
        max: 500,
        about: 'Why it was not delivered, or which of several addresses the mail server refused; `null` otherwise.',
      }),
    ),
  },
  { title: 'NotificationChannelTest' },
);

export const ConnectionInput = s.object(
  {
    kind: s.text({
      max: 64,
      pattern: CONNECTION_KIND,
      about:
        '`agent` is the connection itself; `database`, `object_storage` and `malware_scanner` are components behind it.',
    }),
    provider: s.optional(s.name({ max: 100 })),
    location: s.optional(s.name({ max: 200 })),
    accessMode: s.optional(
      s.enum(
        ACCESS_MODES,
        'For `agent`: it connects to the service (`outbound`, the default), or is called at `endpoint` (`direct`).',
      ),
    ),
    endpoint: s.optional(s.name({ max: 2_000, about: 'An https URL.' })),
  },
  { title: 'DataPlaneConnectionInput' },
);
export const ReportedComponent = s.object(Component.properties, { title: 'DataPlaneComponent' });
const connection = {
  id: s.id(),
  kind: s.text({ max: 64 }),
  provider: s.nullable(s.text({ max: 100 })),
  location: s.nullable(s.text({ max: 200 })),
  accessMode: s.nullable(s.enum(ACCESS_MODES)),
  endpoint: s.nullable(s.text({ max: 2_000 })),
  status: s.enum(
    CONNECTION_STATUSES,
    'Of `agent`: `pending` until an agent has joined, then `connected` while it was heard of within a minute, or `disconnected`; `revoked`; `suspended`: its data directory was copied, and an agent has to join again. Of `database`, `object_storage` and `malware_scanner`: `pending` until an agent has joined, then `connected` if it reports what is declared, or `mismatch`. Other kinds are `declared`. Outside the edition `enterprise_hybrid` all are `inactive`.',
  ),
  statusReason: s.nullable(s.text({ max: 500, about: 'Why the agent is `suspended`; `null` otherwise.' })),
  agentVersion: s.nullable(s.text({ max: 64 })),
  protocolVersion: s.nullable(s.integer()),
  components: s.nullable(
    s.list(ReportedComponent, 10, 'What stands behind the agent, as it reports it; `null` until an agent has joined.'),
  ),
  lastSeenAt: s.nullable(s.instant()),
  connectedSince: s.nullable(s.instant()),
  latencyMs: s.nullable(s.integer({ max: 600_000 })),
  ...stamps,
};
export const Connection = s.object(connection, { title: 'DataPlaneConnection' });
export const DeclaredConnection = s.object(
  {
    ...connection,
    joinToken: s.omittable(
      s.verbatim({
        max: 200,
        about:
          'Only for `agent` in the edition `enterprise_hybrid`, and not shown again: one agent joins with it within 24 hours.',
      }),
    ),
    joinCommand: s.omittable(
      s.text({ about: 'The command with which the agent joins. It reads the token from standard input.' }),
    ),
    warnings,
  },
  { title: 'DeclaredDataPlaneConnection' },
);
