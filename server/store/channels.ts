import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { flagOf, numberOf, textOf, textOrNull } from './rows.js';

export const CHANNEL_KINDS = ['email', 'webhook', 'slack', 'teams', 'feishu', 'dingtalk', 'wecom'] as const;
export type ChannelKind = (typeof CHANNEL_KINDS)[number];

/** A channel for a tenant's reminders. */
export interface ChannelRecord {
  readonly id: string;
  readonly kind: ChannelKind;
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

  async insert(it: ChannelRecord): Promise<void> {
    await this.tx.run(
      `INSERT INTO notification_channels (tenant_id, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
        it.createdAt,
        it.updatedAt,
      ],
    );
  }

  async update(it: ChannelRecord): Promise<void> {
    await this.tx.run(
      'UPDATE notification_channels SET name = ?, target = ?, target_sealed = ?, enabled = ?, is_default = ?, secret_sealed = ?, updated_at = ? WHERE tenant_id = ? AND id = ?',
      [
        it.name,
        it.target,
        it.targetSealed,
        it.enabled ? 1 : 0,
        it.isDefault ? 1 : 0,
        it.secretSealed,
        it.updatedAt,
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
}

interface PlainTarget {
  readonly tenantId: string;
  readonly id: string;
  readonly kind: ChannelKind;
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
    kind: textOf(row, 'kind') as ChannelKind,
    target: textOf(row, 'target'), // the column's closed vocabulary
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

const COLUMNS = 'id, kind, name, target, target_sealed, enabled, is_default, secret_sealed, created_at, updated_at';

const channelOf = (row: Row): ChannelRecord => ({
  id: textOf(row, 'id'),
  kind: textOf(row, 'kind') as ChannelKind, // the column's closed vocabulary
  name: textOf(row, 'name'),
  target: textOrNull(row, 'target'),
  targetSealed: textOrNull(row, 'target_sealed'),
  enabled: flagOf(row, 'enabled'),
  isDefault: flagOf(row, 'is_default'),
  secretSealed: textOrNull(row, 'secret_sealed'),
  createdAt: numberOf(row, 'created_at'),
  updatedAt: numberOf(row, 'updated_at'),
});
