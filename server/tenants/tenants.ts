import { addressToKeep } from '../../data-plane-agent/base/addresses.js';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { Passwords } from '../credentials/passwords.js';
import type { SignInMethods } from '../credentials/sign-in-methods.js';
import type { DataPlanes } from '../data-planes/for-tenant.js';
import type { MailOutbox } from '../notifications/mail.js';
import type { NoticeSender } from '../notifications/send.js';
import type { Actor } from '../access/actor.js';
import type { KeyedDatabase } from '../store/keyed-database.js';
import { TenantStore, type TenantRecord } from '../store/tenants.js';
import { bootstrapSteps, type BootstrapStep } from './bootstrap-status.js';
import { createChange, differences } from './change.js';
import type { Changes } from '../access/changes.js';
import { createChannelTest, type TestChannel } from './channel-test.js';
import { createChannels, type Channels } from './channels.js';
import type { TargetPolicy } from './channel-targets.js';
import { createRemoveClosed } from './closing.js';
import { createConnections, type Connections } from './connections.js';
import { createTenantLookup } from './lookup.js';
import { createHandover, type Handover } from './handover.js';
import { createMembers, type Members } from './members.js';
import { insertTenant, type NewTenant, type TenantDraft } from './new-tenant.js';
import { createOwnership, type Ownership } from './ownership.js';
import { createRoles, type Roles } from './role-changes.js';
import type { Settings } from '../access/settings.schemas.js';
import { checkSettings, settingsOf } from '../access/settings.js';
import { createTenantOperator, type TenantOperator } from './tenant-operator.js';
import { createSubjects, type Subjects } from './subjects.js';

/**
 * Tenants and their data in the platform database. Each change is audited in the same transaction and applies from the
 * next request. An unknown tenant is NOT_FOUND.
 */
export interface Tenants {
  /**
   * Creates a tenant with built-in roles, first subject company and owner. Throws TENANT_SLUG_TAKEN. The rules for
   * public registration do not apply: the CLI and the demo call it.
   */
  create(
    draft: Omit<TenantDraft, 'owner'> & {
      readonly owner: Omit<TenantDraft['owner'], 'passwordHash'> & { readonly password: string };
    },
    actor: Actor,
  ): Promise<NewTenant>;
  bySlug(slug: string): Promise<TenantRecord | undefined>;
  /** Whether there is any organisation. */
  any(): Promise<boolean>;
  /** All settings in effect. */
  settings(tenantId: string): Promise<Settings>;
  /** Updates the given settings and returns all of them. Throws INVALID_INPUT. */
  updateSettings(
    change: { readonly tenantId: string; readonly settings: Partial<Settings> },
    actor: Actor,
  ): Promise<Settings>;
  bootstrapSteps(tenantId: string): Promise<Readonly<Record<BootstrapStep, boolean>>>;
  /** Plan and suspension, for operators. */
  readonly operator: TenantOperator;
  readonly members: Members;
  readonly subjects: Subjects;
  readonly roles: Roles;
  readonly handover: Handover;
  readonly ownership: Ownership;
  readonly channels: Channels;
  readonly testChannel: TestChannel;
  readonly connections: Connections;
}

export interface TenantsOptions {
  readonly database: KeyedDatabase;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly passwords: Passwords;
  readonly changes: Changes;
  readonly mail: MailOutbox;
  readonly signInMethods: SignInMethods;
  /** Finds the data planes of organisations. */
  readonly dataPlanes: DataPlanes;
  /** Which URLs may be called. */
  readonly outbound: TargetPolicy;
  readonly sender: NoticeSender;
  /** Whether a new owner needs a second factor. */
  readonly mfaRequired: boolean;
  /** Whether agents store the contract data, so that connections to them have an effect. */
  readonly linked: boolean;
  /** The origin of the service. */
  readonly publicUrl: string;
  /** Called after the connection of an agent was revoked. */
  readonly onRevoked?: ((connectionId: string) => void) | undefined;
}

export function createTenants(options: TenantsOptions): Tenants {
  const { database, clock, keyRing, passwords, changes, mail, signInMethods, outbound, linked, dataPlanes } = options;
  const change = createChange({ database, clock, changes });
  const lookup = createTenantLookup({ database });
  const removeClosed = createRemoveClosed({ database, clock, dataPlanes });

  return {
    create: async ({ owner: { password, ...owner }, ...draft }, actor) => {
      const passwordHash = await passwords.hash(password);
      const email = addressToKeep(owner.email);
      return database.write({ tenantId: null }, (tx) =>
        insertTenant(tx, { ...draft, owner: { ...owner, email, passwordHash } }, { at: clock.now(), actor }),
      );
    },

    bySlug: lookup.bySlug,
    any: lookup.any,

    settings: (tenantId) =>
      database.read({ tenantId: null }, async (tx) =>
        settingsOf((await new TenantStore(tx).byId(tenantId))?.settings ?? {}),
      ),

    updateSettings: async ({ tenantId, settings }, actor) => {
      const patch = checkSettings(settings);
      return change({ tenantId, actor, action: 'tenant_settings_changed' }, async (tx, tenant, at) => {
        const before = settingsOf(tenant.settings);
        if (Object.keys(patch).length > 0)
          await new TenantStore(tx).setSettings({ id: tenantId, settings: { ...tenant.settings, ...patch }, at });
        return { answer: { ...before, ...patch }, changed: differences(before, patch) };
      });
    },

    bootstrapSteps: (tenantId) => database.read({ tenantId: null }, (tx) => bootstrapSteps(tx, { tenantId, linked })),

    operator: createTenantOperator({ database, clock, changes }),
    members: createMembers({ database, passwords, change, mail, signInMethods }),
    subjects: createSubjects({ database, change, removeClosed }),
    roles: createRoles({ database, change, mail, signInMethods }),
    handover: createHandover({ database, change }),
    ownership: createOwnership({ change, mail, signInMethods, mfaRequired: options.mfaRequired }),
    channels: createChannels({ database, keyRing, change, removeClosed, policy: outbound }),
    testChannel: createChannelTest({ database, clock, sender: options.sender }),
    connections: createConnections({ ...options, change, policy: outbound }),
  };
}
