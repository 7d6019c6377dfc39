import type { Database } from '../../data-plane-agent/base/database/database.js';
import { fail, invalid } from '../../data-plane-agent/base/failures.js';
import type { Issue } from '../../data-plane-agent/base/issue.js';
import { isId, newId } from '../../data-plane-agent/base/ids.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { Actor } from '../access/actor.js';
import type { ChannelKind } from '../notifications/channels/index.js';
import { channelSecretContext, ChannelStore, type ChannelRecord } from '../store/channels.js';
import { checkTarget, targetProblem, type TargetPolicy } from './channel-targets.js';
import { differences, type ChangeTenant } from './change.js';
import type { RemoveClosed } from './closing.js';
import { asKept, keptTarget, type KeptTarget } from './sealed-targets.js';

/** The fields of a channel that a client can set. `null` means no value, or the default if the field has one. */
export interface ChannelFields {
  readonly name?: string | null | undefined;
  readonly target?: string | null | undefined;
  readonly enabled?: boolean | null | undefined;
  readonly isDefault?: boolean | null | undefined;
  readonly secret?: string | null | undefined;
  readonly clearSecret?: boolean | null | undefined;
}

type OfTenant = { readonly tenantId: string };
type OfChannel = OfTenant & { readonly channelId: string };

/**
 * The notification channels of tenants. The first enabled channel becomes the default; there is at most one default.
 * Secrets, and URLs that contain tokens, are encrypted and never returned. An unknown channel is NOT_FOUND;
 * INVALID_INPUT names `target` if it is not allowed.
 */
export interface Channels {
  /** In the order of creation. */
  list(tenantId: string): Promise<ChannelRecord[]>;
  /**
   * The issues of a new channel, or of a change if no kind is given. Fields that were refused before may be missing.
   */
  issues(channel: { readonly kind?: ChannelKind | undefined; readonly fields: ChannelFields }): readonly Issue[];
  /** Throws LIMIT_REACHED. */
  add(
    channel: OfTenant & { readonly kind: ChannelKind; readonly fields: ChannelFields },
    actor: Actor,
  ): Promise<ChannelRecord>;
  update(change: OfChannel & { readonly fields: ChannelFields }, actor: Actor): Promise<ChannelRecord>;
  /**
   * After the default is deleted, no other channel becomes the default automatically, so that reminders are never sent
   * to an unintended place. The data plane closes the channel first, so that no transition starts to use it. Throws
   * CHANNEL_IN_USE if transitions use it.
   */
  remove(channel: OfChannel, actor: Actor): Promise<void>;
}

const MAX_CHANNELS = 1_000;

export function createChannels({
  database,
  keyRing,
  change,
  removeClosed,
  policy,
}: {
  database: Database;
  keyRing: KeyRing;
  change: ChangeTenant;
  removeClosed: RemoveClosed;
  policy: TargetPolicy;
}): Channels {
  const ask = { recordKind: 'notification_channel' };

  const seal = (secret: string, place: { tenantId: string; id: string }) =>
    keyRing.seal(secret, channelSecretContext(place));

  /** The displayed form sent back, and the present URL, change nothing. */
  const changedTarget = (before: ChannelRecord, sent: string | null, tenantId: string): KeptTarget => {
    if (before.kind !== 'email' && sent === before.target) return before;
    const target = checkTarget({ kind: before.kind, target: sent }, policy);
    const kept = keptTarget({ kind: before.kind, target }, { tenantId, id: before.id, keyRing });
    return kept.target === before.target ? before : kept;
  };

  return {
    list: async (tenantId) =>
      (await database.read({ tenantId: null }, (tx) => new ChannelStore(tx, tenantId).all())).map((channel) =>
        asKept(channel, { tenantId, keyRing }),
      ),

    issues: ({ kind, fields }) => (kind === undefined ? secretIssues(fields) : channelIssues({ kind, fields }, policy)),

    add: async ({ tenantId, kind, fields }, actor) => {
      const issues = channelIssues({ kind, fields }, policy);
      if (issues.length > 0) throw invalid(...issues);
      const target = checkTarget({ kind, target: fields.target ?? null }, policy);
      return change({ ...ask, tenantId, actor, action: 'channel_added' }, async (tx, _tenant, at) => {
        const store = new ChannelStore(tx, tenantId);
        const present = await store.all();
        if (present.length >= MAX_CHANNELS) throw fail('LIMIT_REACHED', { limit: MAX_CHANNELS });
        const id = newId();
        const enabled = fields.enabled ?? true;
        const isDefault = fields.isDefault === true || (enabled && !present.some((channel) => channel.isDefault));
        const channel: ChannelRecord = {
          id,
          kind,
          name: fields.name ?? kind,
          ...keptTarget({ kind, target }, { tenantId, id, keyRing }),
          enabled,
          isDefault,
          secretSealed: fields.secret ? seal(fields.secret, { tenantId, id }) : null,
          lastError: null,
          lastErrorAt: null,
          lastDeliveredAt: null,
          disabledReason: null,
          createdAt: at,
          updatedAt: at,
        };
        if (isDefault) await store.clearDefault({ at });
        await store.insert(channel);
        return { answer: channel, changed: auditedFields(channel), recordId: id };
      });
    },

    update: async ({ tenantId, channelId, fields }, actor) => {
      const issues = secretIssues(fields);
      if (issues.length > 0) throw invalid(...issues);
      return change({ ...ask, tenantId, actor, action: 'channel_changed' }, async (tx, _tenant, at) => {
        const store = new ChannelStore(tx, tenantId);
        const before = asKept(await found(store, channelId), { tenantId, keyRing });
        const after = patched(before, fields, {
          kept: fields.target === undefined ? before : changedTarget(before, fields.target, tenantId),
          secretSealed: fields.secret
            ? seal(fields.secret, { tenantId, id: channelId })
            : fields.clearSecret === true
              ? null
              : before.secretSealed,
          hasDefault: (await store.all()).some(({ isDefault }) => isDefault),
        });
        if (after.isDefault && !before.isDefault && !after.enabled) throw invalid(DISABLED_DEFAULT);
        const changed = differences(auditedFields(before), auditedFields(after));
        if (!changed && after.secretSealed === before.secretSealed && after.targetSealed === before.targetSealed)
          return { answer: before, changed: null };
        const next = { ...after, updatedAt: at };
        if (next.isDefault && !before.isDefault) await store.clearDefault({ at });
        await store.update(next);
        return {
          answer: next,
          changed: { ...changed, ...(fields.secret ? { secret: 'replaced' } : {}) },
          recordId: channelId,
        };
      });
    },

    remove: async ({ tenantId, channelId }, actor) => {
      if (!isId(channelId)) throw fail('NOT_FOUND', {});
      await removeClosed(
        {
          tenantId,
          close: (plane, closingId) => plane.closeChannel({ channelId, closingId }),
          remove: ({ transitionCodes }) => removed({ tenantId, channelId, transitionCodes }, actor),
        },
        actor,
      );
    },
  };

  function removed(
    { tenantId, channelId, transitionCodes }: OfChannel & { readonly transitionCodes: string[] },
    actor: Actor,
  ): Promise<void> {
    return change({ ...ask, tenantId, actor, action: 'channel_removed' }, async (tx) => {
      const store = new ChannelStore(tx, tenantId);
      const channel = asKept(await found(store, channelId), { tenantId, keyRing });
      if (transitionCodes.length > 0) throw fail('CHANNEL_IN_USE', { transitionCodes });
      await store.delete(channelId);
      return { answer: undefined, changed: auditedFields(channel), recordId: channelId };
    });
  }
}

/**
 * Nothing is sent through a disabled channel, so it cannot become the default. A default that is disabled stays the
 * default: reminders are not redirected automatically.
 */
const DISABLED_DEFAULT: Issue = { path: 'isDefault', problem: 'must not be true for a disabled channel' };

/** The issues of a new channel. */
function channelIssues({ kind, fields }: { kind: ChannelKind; fields: ChannelFields }, policy: TargetPolicy): Issue[] {
  const problem = targetProblem({ kind, target: fields.target ?? null }, policy);
  return [
    ...secretIssues(fields),
    ...(problem === undefined ? [] : [{ path: 'target', problem }]),
    ...(fields.isDefault === true && fields.enabled === false ? [DISABLED_DEFAULT] : []),
  ];
}

const secretIssues = ({ secret, clearSecret }: ChannelFields): Issue[] =>
  clearSecret === true && secret ? [{ path: 'clearSecret', problem: 'must not be true together with a secret' }] : [];

async function found(store: ChannelStore, id: string): Promise<ChannelRecord> {
  const channel = isId(id) ? await store.byId(id) : undefined;
  if (!channel) throw fail('NOT_FOUND', {});
  return channel;
}

/** If no channel is the default, a channel that is enabled becomes it, unless the request says otherwise. */
function patched(
  before: ChannelRecord,
  fields: ChannelFields,
  { kept, secretSealed, hasDefault }: Pick<ChannelRecord, 'secretSealed'> & { kept: KeptTarget; hasDefault: boolean },
): ChannelRecord {
  const enabled = fields.enabled === undefined ? before.enabled : (fields.enabled ?? true);
  const begins = enabled && !before.enabled && !hasDefault;
  return {
    ...before,
    name: fields.name === undefined ? before.name : (fields.name ?? before.kind),
    target: kept.target,
    targetSealed: kept.targetSealed,
    enabled,
    isDefault: fields.isDefault ?? (before.isDefault || begins),
    secretSealed,
    disabledReason: enabled || kept.target !== before.target ? null : before.disabledReason,
  };
}

/** The fields for the audit; a URL in its displayed form. */
const auditedFields = ({ kind, name, target, enabled, isDefault, secretSealed }: ChannelRecord) => ({
  kind,
  name,
  target,
  enabled,
  isDefault,
  hasSecret: secretSealed !== null,
});
