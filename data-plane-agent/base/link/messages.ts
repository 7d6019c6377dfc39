import { s, type Static } from '../schema.js';
import { PublicKey } from './keys.js';

/** The messages with which an agent joins and connects. All are JSON of at most 64 KB. */

const Range = s.object({ min: s.integer({ max: 10_000 }), max: s.integer({ max: 10_000 }) });

/** What stands behind an agent, as it found it. `location` is what the operator of the agent states, e.g. a region. */
export const Component = s.object({
  kind: s.enum(['database', 'object_storage', 'malware_scanner']),
  provider: s.enum(['postgres', 'sqlite', 'minio', 's3', 'filesystem', 'clamav', 'none']),
  location: s.nullable(s.name({ max: 200 })),
  state: s.enum(['up', 'down', 'unknown']),
});
export type Component = Static<typeof Component>;

/** The state of an agent, which its heartbeat reports too. */
export const AgentReport = s.object({
  components: s.list(Component, 10),
  /** Whether messages of the outbox are due. */
  outboxDue: s.flag(),
});
export type AgentReport = Static<typeof AgentReport>;

export const Hello = s.object({
  /** The key pair's owner: one installation of an agent. */
  instanceId: s.id(),
  /** New at each start of the process. */
  bootId: s.id(),
  /** Counts sessions, for the detection of copies: see `docs/decisions/0013-link.md`. */
  sequence: s.integer({ max: Number.MAX_SAFE_INTEGER }),
  version: s.text({ max: 64 }),
  protocols: Range,
  /** The hash of the operations' schemas that this program was built with. */
  operations: s.text({ max: 64 }),
  /** The last migration of the tenant database. */
  schema: s.text({ max: 100 }),
  report: AgentReport,
});
export type Hello = Static<typeof Hello>;

/** A tenant as its agent needs it: for the jobs that the agent runs by itself. */
export const LinkedTenant = s.object({
  id: s.id(),
  slug: s.text({ max: 64 }),
  timeZone: s.text({ max: 64 }),
  reminderLeadDays: s.integer({ max: 90 }),
  reminderEscalationDays: s.integer({ max: 90 }),
  reminderHour: s.integer({ max: 23 }),
  currencyCode: s.currency(),
  language: s.text({ max: 35 }),
  /** A suspended organisation's jobs wait. */
  active: s.flag(),
});
export type LinkedTenant = Static<typeof LinkedTenant>;

/** The control plane's keys that the agent accepts from now on: a new one is only learned over a verified session. */
export const PinnedKeys = s.list(PublicKey, 5);

export const Welcome = s.object({
  sid: s.id(),
  protocol: s.integer({ max: 10_000 }),
  version: s.text({ max: 64 }),
  /** The same as in the agent's hello, if the control plane was built with the same schemas. */
  operations: s.text({ max: 64 }),
  serverTime: s.integer({ max: Number.MAX_SAFE_INTEGER }),
  tenant: LinkedTenant,
  keys: PinnedKeys,
  /** How many connections the agent shall keep: two where the control plane has several replicas. */
  connections: s.integer({ min: 1, max: 2 }),
});
export type Welcome = Static<typeof Welcome>;

/** `POST /link/v1/challenge`: proves to the control plane later that the proof of possession is fresh. */
export const ChallengeRequest = s.object({ tokenHash: s.verbatim({ min: 64, max: 64 }) });
export const Challenge = s.object({
  nonce: s.verbatim({ max: 500 }),
  controlPlane: s.text({ max: 2_000 }),
  serverTime: s.integer({ max: Number.MAX_SAFE_INTEGER }),
});

/** `POST /link/v1/join`: `proof` is a token of type `join`, signed with the key's private half, with the nonce. */
export const JoinRequest = s.object({
  joinToken: s.verbatim({ max: 200 }),
  key: PublicKey,
  proof: s.verbatim({ max: 4_000 }),
  instanceId: s.id(),
  version: s.text({ max: 64 }),
  protocols: Range,
  components: s.list(Component, 10),
});
export const Joined = s.object({
  connectionId: s.id(),
  controlPlane: s.text({ max: 2_000 }),
  accessMode: s.enum(['outbound', 'direct']),
  tenant: LinkedTenant,
  keys: PinnedKeys,
});

/** `POST /link/v1/rotate`: the body is signed twice, with the old key (Authorization) and the new one (`proof`). */
export const RotateRequest = s.object({ key: PublicKey, proof: s.verbatim({ max: 4_000 }) });
export const Rotated = s.object({ oldKeyUntil: s.integer({ max: Number.MAX_SAFE_INTEGER }) });

export type ChallengeRequest = Static<typeof ChallengeRequest>;
export type Challenge = Static<typeof Challenge>;
export type JoinRequest = Static<typeof JoinRequest>;
export type Joined = Static<typeof Joined>;
export type RotateRequest = Static<typeof RotateRequest>;
export type Rotated = Static<typeof Rotated>;

/** The paths of a control plane for agents, and of an agent that is called directly. */
export const LINK_PATHS = {
  challenge: '/link/v1/challenge',
  join: '/link/v1/join',
  rotate: '/link/v1/rotate',
  connect: '/link/v1/connect',
  /** Between replicas of the control plane. */
  forward: '/link/v1/forward',
  /** On an agent with `accessMode` direct. */
  hello: '/link/v1/hello',
  operations: '/link/v1/operations',
} as const;

/**
 * Topics of notices. From the agent: `ready` (it has stored that it was welcomed) and `outbox` (messages are due). From
 * the control plane: `tenant`, and `keys`, whose value is an announcement (`announcement.ts`).
 */
export const TOPICS = { ready: 'ready', outbox: 'outbox', tenant: 'tenant', keys: 'keys' } as const;
