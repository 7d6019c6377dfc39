import type { Transaction } from '../../../data-plane-agent/base/database/database.js';
import { iso, isoOrNull } from '../../../data-plane-agent/base/instants.js';
import { s, type Static, type TSchema } from '../../../data-plane-agent/base/schema.js';
import { checker } from '../../../data-plane-agent/base/validation.js';
import { CONTROLS } from '../../../data-plane-agent/plane/contract/vocabulary.js';
import { LEVELS, MODULES, PLANS } from '../../access/permissions.js';
import { NameProfile, personName } from '../../access/person.schemas.js';
import { settingsOf } from '../../access/settings.js';
import { Settings } from '../../access/settings.schemas.js';
import { ChannelStore, type ChannelRecord } from '../../store/channels.js';
import { MemberStore, type ListedMember } from '../../store/members.js';
import { RoleStore } from '../../store/roles.js';
import { SubjectStore } from '../../store/subjects.js';
import { TenantStore } from '../../store/tenants.js';
import type { PlatformKind } from './format.js';
import { FieldFault, type ArchiveRecord } from './records.js';

const instant = () => s.text({ max: 24, pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' });
const times = { createdAt: instant(), updatedAt: instant() };

const Organisation = s.object({
  id: s.id(),
  slug: s.text({ max: 100 }),
  name: s.text(),
  planCode: s.enum(PLANS),
  settings: Settings,
  ...times,
});

const RoleLine = s.object({
  code: s.text({ max: 100 }),
  name: s.text(),
  builtIn: s.flag(),
  permissions: s.map(s.enum(LEVELS), MODULES.length),
  workflowControls: s.map(s.enum(CONTROLS), 100),
});

const MemberLine = s.object({
  id: s.id(),
  email: s.email(),
  name: personName(),
  nameProfile: s.nullable(NameProfile),
  status: s.enum(['active', 'disabled']),
  roleCode: s.text({ max: 100 }),
  /** The ids of subject companies; `null` means all. */
  subjectScope: s.nullable(s.list(s.id(), 10_000)),
  preferences: s.free(),
  lastLoginAt: s.nullable(instant()),
  ...times,
});

const SubjectCompany = s.object({
  id: s.id(),
  name: s.text(),
  legalName: s.nullable(s.text()),
  taxNo: s.nullable(s.text()),
  defaultPayeeAccount: s.nullable(s.text()),
  defaultPayeeBank: s.nullable(s.text()),
  ...times,
});

const Channel = s.object({
  id: s.id(),
  kind: s.text({ max: 64 }),
  name: s.text(),
  /** Addresses of an email channel; of another one the URL without its secret parts, for people. */
  target: s.nullable(s.text({ max: 10_000 })),
  enabled: s.flag(),
  isDefault: s.flag(),
  /** What only the installation has: `url`, `secret`. */
  leftOut: s.list(s.enum(['url', 'secret']), 2),
  ...times,
});

const SCHEMAS = {
  organisation: Organisation,
  roles: RoleLine,
  members: MemberLine,
  subjectCompanies: SubjectCompany,
  channels: Channel,
} as const satisfies Record<PlatformKind, TSchema>;

/** The records of a kind of the platform database. */
export type PlatformRecord<K extends PlatformKind> = Static<(typeof SCHEMAS)[K]>;
export type PlatformRecords = { readonly [K in PlatformKind]: readonly PlatformRecord<K>[] };

/** Throws FieldFault. */
export function platformRecordOf<K extends PlatformKind>(kind: K, record: ArchiveRecord): PlatformRecord<K> {
  const checked = checker<(typeof SCHEMAS)[K]>(SCHEMAS[kind])(record);
  if (checked.ok) return checked.value;
  const [issue] = checked.issues;
  throw new FieldFault(`${issue?.path ?? ''} ${issue?.problem ?? 'is not valid'}`);
}

/** What the platform database has of an organisation, without passwords, other factors and secrets. */
export async function readPlatform(tx: Transaction, tenantId: string): Promise<PlatformRecords> {
  const tenant = await new TenantStore(tx).byId(tenantId);
  if (!tenant) throw new Error(`the organisation ${tenantId} does not exist`);
  const { id, slug, name, planCode } = tenant;
  return {
    organisation: [{ id, slug, name, planCode, settings: settingsOf(tenant.settings), ...timesOf(tenant) }],
    roles: (await new RoleStore(tx, tenantId).all()).map((role) => ({
      ...role,
      permissions: { ...role.permissions },
      workflowControls: { ...role.workflowControls },
    })),
    members: (await new MemberStore(tx, tenantId).list()).map(memberLine),
    subjectCompanies: (await new SubjectStore(tx, tenantId).all()).map(({ createdAt, updatedAt, ...subject }) => ({
      ...subject,
      ...timesOf({ createdAt, updatedAt }),
    })),
    channels: (await new ChannelStore(tx, tenantId).all()).map(channelLine),
  };
}

const timesOf = ({ createdAt, updatedAt }: { readonly createdAt: number; readonly updatedAt: number }) => ({
  createdAt: iso(createdAt),
  updatedAt: iso(updatedAt),
});

const memberLine = (member: ListedMember): PlatformRecord<'members'> => ({
  id: member.id,
  email: member.email,
  name: member.name,
  nameProfile: member.nameProfile,
  status: member.status,
  roleCode: member.roleCode,
  subjectScope: member.subjectScope && [...member.subjectScope],
  preferences: { ...member.preferences },
  lastLoginAt: isoOrNull(member.lastLoginAt),
  ...timesOf(member),
});

function channelLine(channel: ChannelRecord): PlatformRecord<'channels'> {
  const { id, kind, name, target, targetSealed, enabled, isDefault, secretSealed } = channel;
  const hasUrl = kind !== 'email' && target !== null;
  return {
    id,
    kind,
    name,
    // An older version stored the URL in plain text, with the secret in it.
    target: hasUrl && targetSealed === null ? null : target,
    enabled,
    isDefault,
    leftOut: [...(hasUrl ? (['url'] as const) : []), ...(secretSealed === null ? [] : (['secret'] as const))],
    ...timesOf(channel),
  };
}
