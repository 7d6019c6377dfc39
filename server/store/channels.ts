import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { flagOf, numberOf, numberOrNull, textOf, textOrNull } from './rows.js';

/** A channel for a tenant's reminders. */
export interface ChannelRecord {
  readonly id: string;
  /** One of `CHANNEL_KINDS`. */
  readonly kind: string;
  readonly name: string;
  /**
   * Email addresses separated by commas, or the displayed form of a URL; `null` for an email channel means the line's
   * owner.
   */
  readonly target: string | null;
  /** The URL, sealed for `channelTargetContext`; `null` for an email channel. */
  readonly targetSealed: string | null;
  readonly enabled: boolean;
  readonly isDefault: boolean;
  /** Sealed for `channelSecretContext`. */
  readonly secretSealed: string | null;
  /** Of the last failed attempt, also if a later one succeeded. */
  readonly lastError: string | null;
  readonly lastErrorAt: number | null;
  readonly lastDeliveredAt: number | null;
  /** `gone`: the receiver answered that it no longer exists. `null` if it is enabled, or a member disabled it. */
  readonly disabledReason: 'gone' | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const channelSecretContext = ({ tenantId, id }: { tenantId: string; id: string }): string =>
  `notification_channels.secret_sealed.${tenantId}.${id}`;

export const channelTargetContext = ({ tenantId, id }: { tenantId: string; id: string }): string =>
  `notification_channels.target_sealed.${tenantId}.${id}`;

export class ChannelStore {
  constructor(
    private readonly tx: Transaction,
    private readonly tenantId: string,
  ) {}

  /** In the order of creation. */
  async all(): Promise<ChannelRecord[]> {
    return (
      await this.tx.all(`SELECT ${COLUMNS} FROM notification_channels WHERE tenant_id = ? ORDER BY id`, [this.tenantId])
    ).map(channelOf);
  }

  async byId(id: string): Promise<ChannelRecord | undefined> {
    const row = await this.tx.get(`SELECT ${COLUMNS} FROM notification_channels WHERE tenant_id = ? AND id = ?`, [
      this.tenantId,
      id,
    ]);
    return row && channelOf(row);
  }

  /** The channel for messages that name none. */
  async default(): Promise<ChannelRecord | undefined> {
    const row = await this.tx.get(
      `SELECT ${COLUMNS} FROM notification_channels WHERE tenant_id = ? AND is_default = 1`,
      [this.tenantId],
    );
    return row && channelOf(row);
  }

  async insert(it: ChannelRecord): Promise<void> {
    await this.tx.run(
      `INSERT INTO notification_channels (tenant_id, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        this.tenantId,
        it.id,
        it.kind,
        it.name,
        it.target,
        it.targetSealed,
        it.enabled ? 1 : 0,
        it.isDefault ? 1 : 0,
        it.secretSealed,
        it.lastError,
        it.lastErrorAt,
        it.lastDeliveredAt,
        it.disabledReason,
        it.createdAt,
        it.updatedAt,
      ],
    );
  }

  /** The pace of another target begins anew. */
  async update(it: ChannelRecord): Promise<void> {
    await this.tx.run(
      'UPDATE notification_channels SET name = ?, target = ?, target_sealed = ?, enabled = ?, is_default = ?, secret_sealed = ?, disabled_reason = ?, updated_at = ?, paced_until = CASE WHEN target = ? THEN paced_until ELSE 0 END WHERE tenant_id = ? AND id = ?',
      [
        it.name,
        it.target,
        it.targetSealed,
        it.enabled ? 1 : 0,
        it.isDefault ? 1 : 0,
        it.secretSealed,
        it.disabledReason,
        it.updatedAt,
        it.target,
        this.tenantId,
        it.id,
      ],
    );
  }

  /** Called before another channel becomes the default: there is at most one. */
  async clearDefault({ at }: { at: number }): Promise<void> {
    await this.tx.run(
      'UPDATE notification_channels SET is_default = 0, updated_at = ? WHERE tenant_id = ? AND is_default = 1',
      [at, this.tenantId],
    );
  }

  async delete(id: string): Promise<void> {
    await this.tx.run('DELETE FROM notification_channels WHERE tenant_id = ? AND id = ?', [this.tenantId, id]);
  }

  /** Records a delivery. Of deliveries that end concurrently, the latest is kept. */
  async delivered({ id, at }: { id: string; at: number }): Promise<void> {
    await this.tx.run(
      'UPDATE notification_channels SET last_delivered_at = ? WHERE tenant_id = ? AND id = ? AND (last_delivered_at IS NULL OR last_delivered_at < ?)',
      [at, this.tenantId, id, at],
    );
  }

  /** Records a failed attempt. Of attempts that end concurrently, the latest is kept. */
  async failed({ id, at, error }: { id: string; at: number; error: string }): Promise<void> {
    await this.tx.run(
      'UPDATE notification_channels SET last_error = ?, last_error_at = ? WHERE tenant_id = ? AND id = ? AND (last_error_at IS NULL OR last_error_at <= ?)',
      [error, at, this.tenantId, id, at],
    );
  }

  /**
   * Disables a channel whose receiver no longer exists. Returns whether it was enabled, and still had the target that
   * was called.
   */
  async disableGone({
    id,
    target,
    at,
  }: Pick<ChannelRecord, 'id' | 'target'> & { readonly at: number }): Promise<boolean> {
    const changed = await this.tx.run(
      "UPDATE notification_channels SET enabled = 0, disabled_reason = 'gone', updated_at = ? WHERE tenant_id = ? AND id = ? AND enabled = 1 AND target = ?",
      [at, this.tenantId, id, target],
    );
    return changed > 0;
  }

  /**
   * Reserves the next place in the channel's pace: `burst` messages at once, then one every `everyMs`. Returns 0 if one
   * may be sent now, otherwise the milliseconds until it is worth asking again, and nothing is reserved. One statement,
   * so that any number of processes share one pace (the generic cell rate algorithm: `paced_until` is when the channel
   * would be idle). A channel that was deleted has no pace.
   */
  async reserveSlot({
    id,
    at,
    everyMs,
    burst,
  }: {
    id: string;
    at: number;
    everyMs: number;
    burst: number;
  }): Promise<number> {
    const ahead = (burst - 1) * everyMs;
    const reserved = await this.tx.run(
      'UPDATE notification_channels SET paced_until = CASE WHEN paced_until > ? THEN paced_until ELSE ? END + ? WHERE tenant_id = ? AND id = ? AND paced_until <= ?',
      [at, at, everyMs, this.tenantId, id, at + ahead],
    );
    if (reserved > 0) return 0;
    const row = await this.tx.get('SELECT paced_until FROM notification_channels WHERE tenant_id = ? AND id = ?', [
      this.tenantId,
      id,
    ]);
    return row ? Math.max(1, numberOf(row, 'paced_until') - ahead - at) : 0;
  }

  /** No place is reserved before `until`: for a receiver that asks to wait. */
  async pauseUntil({ id, until }: { id: string; until: number }): Promise<void> {
    await this.tx.run(
      'UPDATE notification_channels SET paced_until = ? WHERE tenant_id = ? AND id = ? AND paced_until < ?',
      [until, this.tenantId, id, until],
    );
  }
}

interface PlainTarget {
  readonly tenantId: string;
  readonly id: string;
  readonly kind: string;
  readonly target: string;
}

/** URLs stored in plain text, of any tenant. */
export const plainTargets = async (tx: Transaction, limit: number): Promise<PlainTarget[]> =>
  (
    await tx.all(
      `SELECT tenant_id, id, kind, target FROM notification_channels WHERE kind <> 'email' AND target IS NOT NULL AND target_sealed IS NULL ORDER BY tenant_id, id LIMIT ?`,
      [limit],
    )
  ).map((row) => ({
    tenantId: textOf(row, 'tenant_id'),
    id: textOf(row, 'id'),
    kind: textOf(row, 'kind'),
    target: textOf(row, 'target'),
  }));

/** Does nothing if the target was changed concurrently. */
export async function sealTarget(
  tx: Transaction,
  {
    tenantId,
    id,
    before,
    target,
    targetSealed,
  }: Pick<ChannelRecord, 'id' | 'target' | 'targetSealed'> & { readonly tenantId: string; readonly before: string },
): Promise<void> {
  await tx.run(
    'UPDATE notification_channels SET target = ?, target_sealed = ? WHERE tenant_id = ? AND id = ? AND target = ? AND target_sealed IS NULL',
    [target, targetSealed, tenantId, id, before],
  );
}

const COLUMNS =
  'id, kind, name, target, target_sealed, enabled, is_default, secret_sealed, last_error, last_error_at, last_delivered_at, disabled_reason, created_at, updated_at';

const channelOf = (row: Row): ChannelRecord => ({
  id: textOf(row, 'id'),
  kind: textOf(row, 'kind'),
  name: textOf(row, 'name'),
  target: textOrNull(row, 'target'),
  targetSealed: textOrNull(row, 'target_sealed'),
  enabled: flagOf(row, 'enabled'),
  isDefault: flagOf(row, 'is_default'),
  secretSealed: textOrNull(row, 'secret_sealed'),
  lastError: textOrNull(row, 'last_error'),
  lastErrorAt: numberOrNull(row, 'last_error_at'),
  lastDeliveredAt: numberOrNull(row, 'last_delivered_at'),
  disabledReason: textOrNull(row, 'disabled_reason') === 'gone' ? 'gone' : null,
  createdAt: numberOf(row, 'created_at'),
  updatedAt: numberOf(row, 'updated_at'),
});
