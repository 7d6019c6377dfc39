import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '../../../data-plane-agent/base/database/database.js';
import { MODULES, type Permissions } from '../../access/permissions.js';
import { ADMIN, OWNER } from '../../access/role-codes.js';
import { DEFAULT_SETTINGS } from '../../access/settings.js';
import type { Settings } from '../../access/settings.schemas.js';
import { ChannelStore } from '../../store/channels.js';
import { MemberStore } from '../../store/members.js';
import { RoleStore } from '../../store/roles.js';
import { SubjectStore } from '../../store/subjects.js';
import { TenantStore } from '../../store/tenants.js';
import { ArchiveFault } from './archive-fault.js';
import { identitiesOf, type Identities } from './identities.js';
import type { PlatformRecord, PlatformRecords } from './platform-records.js';

/** Throws TENANT_DATA_NOT_EMPTY unless the organisation is as it was made. */
export async function refuseUnlessNew(tx: Transaction, tenantId: string): Promise<void> {
  const subjects = (await new SubjectStore(tx, tenantId).all()).length;
  const channels = (await new ChannelStore(tx, tenantId).all()).length;
  const [what] = [...(subjects > 1 ? ['subject companies'] : []), ...(channels > 0 ? ['notification channels'] : [])];
  if (what !== undefined)
    throw new ArchiveFault(
      'TENANT_DATA_NOT_EMPTY',
      `the organisation has ${what} already: import into a new organisation; nothing was changed`,
    );
}

export interface PlatformPart {
  readonly tenantId: string;
  readonly platform: PlatformRecords;
  /** By which the contract data was written. */
  readonly identities: Identities;
  readonly at: number;
}

/** The present ids of the exported members, and of the organisation. */
export async function presentIdentities(
  tx: Transaction,
  { tenantId, platform }: Pick<PlatformPart, 'tenantId' | 'platform'>,
): Promise<Identities> {
  const present = await new MemberStore(tx, tenantId).names();
  const exportedTenantId = platform.organisation[0]?.id ?? tenantId;
  return identitiesOf({ tenantId, exportedTenantId, members: platform.members, present });
}

/** Writes settings, roles, members, subject companies and channels. Members who are there already stay as they are. */
export async function writePlatform(tx: Transaction, part: PlatformPart): Promise<void> {
  const { tenantId, platform, identities, at } = part;
  const tenants = new TenantStore(tx);
  await tenants.lock(tenantId);
  await refuseUnlessNew(tx, tenantId);
  const now = await presentIdentities(tx, part);
  if ([...now].some(([id, other]) => isIdOf(platform, id) && identities.get(id) !== other))
    throw new ArchiveFault(
      'TENANT_DATA_BUSY',
      'members of the organisation were added or changed during the import; nothing was imported',
    );
  await tenants.setSettings({ id: tenantId, settings: changedSettings(platform), at });
  await writeRoles(tx, part);
  await writeSubjects(tx, part);
  await writeMembers(tx, part);
  await writeChannels(tx, part);
  await tenants.touchDirectory(tenantId);
}

const isIdOf = ({ members }: PlatformRecords, id: string): boolean => members.some((member) => member.id === id);

function changedSettings({ organisation: [organisation] }: PlatformRecords): Partial<Settings> {
  const given = { ...organisation?.settings, localeRegion: organisation?.settings.localeRegion ?? null };
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => !isDeepStrictEqual(value, Reflect.get(DEFAULT_SETTINGS, name))),
  ) as Partial<Settings>; // checked against the schema of settings
}

async function writeRoles(tx: Transaction, { tenantId, platform, at }: PlatformPart): Promise<void> {
  const roles = new RoleStore(tx, tenantId);
  for (const [position, role] of platform.roles.entries()) {
    // The owner's cannot be lowered.
    if (role.code === OWNER) continue;
    const permissions = Object.fromEntries(
      MODULES.map((module) => [module, role.permissions[module] ?? 'none']),
    ) as Permissions; // all modules
    const controls = role.workflowControls;
    if (await roles.exists(role.code)) {
      await roles.setPermissions({ code: role.code, permissions, at });
      await roles.setWorkflowControls({ code: role.code, controls, at });
    } else await roles.insert({ role: { ...role, permissions, workflowControls: controls }, position, at });
  }
}

/** Replaces the subject company that the organisation was made with; nothing refers to it. */
async function writeSubjects(tx: Transaction, { tenantId, platform, at }: PlatformPart): Promise<void> {
  const subjects = new SubjectStore(tx, tenantId);
  for (const { id } of await subjects.all()) {
    if (!platform.subjectCompanies.some((other) => other.id === id))
      await new MemberStore(tx, tenantId).dropFromScopes({ subjectId: id, at });
    await subjects.delete(id);
  }
  for (const subject of platform.subjectCompanies) await subjects.insert({ ...subject, ...timesOf(subject) });
}

async function writeMembers(tx: Transaction, { tenantId, platform, identities }: PlatformPart): Promise<void> {
  const members = new MemberStore(tx, tenantId);
  for (const { lastLoginAt, ...member } of platform.members) {
    if ((await members.byEmail(member.email)) !== undefined) continue;
    const isInserted = await members.insert({
      ...member,
      ...timesOf(member),
      id: identities.get(member.id) ?? member.id,
      tenantId,
      // The organisation has its own owner.
      roleCode: member.roleCode === OWNER ? ADMIN : member.roleCode,
      passwordHash: null,
      lastLoginAt: lastLoginAt === null ? null : Date.parse(lastLoginAt),
    });
    if (!isInserted) throw new ArchiveFault('TENANT_DATA_BUSY', `${member.email} joined during the import`);
  }
}

/** Channels without their URL or secret are disabled until an administrator enters them. */
async function writeChannels(tx: Transaction, { tenantId, platform }: PlatformPart): Promise<void> {
  const channels = new ChannelStore(tx, tenantId);
  for (const { leftOut, ...channel } of platform.channels) {
    const isComplete = leftOut.length === 0;
    await channels.insert({
      ...channel,
      ...timesOf(channel),
      target: channel.kind === 'email' ? channel.target : null,
      targetSealed: null,
      enabled: channel.enabled && isComplete,
      isDefault: channel.isDefault && channel.enabled && isComplete,
      secretSealed: null,
      lastError: null,
      lastErrorAt: null,
      lastDeliveredAt: null,
      disabledReason: null,
    });
  }
}

const timesOf = ({ createdAt, updatedAt }: Pick<PlatformRecord<'members'>, 'createdAt' | 'updatedAt'>) => ({
  createdAt: Date.parse(createdAt),
  updatedAt: Date.parse(updatedAt),
});
