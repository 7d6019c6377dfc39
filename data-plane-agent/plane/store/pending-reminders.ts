import type { Row, Transaction } from '../../base/database/database.js';
import { fragment, isOneOf, type Fragment } from '../../base/database/fragments.js';
import { isId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';
import { SAMPLES } from '../contract/records/ownership.js';
import { reminders } from '../tables/reminders.js';
import { ofContract, type ChangeRecorder } from './change-recorder.js';
import { withinScope } from './scope.js';

/** A queued reminder that is sent to a member. */
export interface PendingReminder {
  readonly id: string;
  readonly contractId: string;
  readonly subjectId: string;
  /** `null`: it goes to the owner of the contract. */
  readonly recipientId: string | null;
}

/**
 * Queued reminders by the member that they go to: the owner of the contract, or the recipient that a handover has set.
 * They cover the whole tenant, as the contracts of a leaving member do; only samples are limited to the caller's scope.
 */
export class PendingReminderStore {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    private readonly recorder: ChangeRecorder,
  ) {}

  async countOf(memberId: string): Promise<number> {
    if (!isId(memberId)) return 0;
    const pending = this.pendingOf(memberId);
    const row = await this.tx.get(`SELECT count(*) AS n FROM ${PENDING} WHERE ${pending.sql}`, pending.values);
    return Number(row?.['n']);
  }

  /** The latest few of contracts that the caller may see. */
  async samplesOf(memberId: string): Promise<{ id: string; name: string }[]> {
    if (!isId(memberId)) return [];
    const pending = this.pendingOf(memberId);
    const scope = withinScope(this.call, this.tx.dialect, 'contracts');
    const rows = await this.tx.all(
      `SELECT reminders.id, contracts.contract_no, payment_lines.period, reminders.step
       FROM ${PENDING} JOIN payment_lines ON payment_lines.tenant_id = reminders.tenant_id AND payment_lines.id = reminders.payment_id
       WHERE ${pending.sql} AND ${scope.sql} ORDER BY reminders.id DESC LIMIT ?`,
      [...pending.values, ...scope.values, SAMPLES],
    );
    return rows.map((row) => ({
      id: String(row['id']),
      name: [row['contract_no'], row['period'], row['step']].map(String).join(' '),
    }));
  }

  /** Subject companies of the contracts in question. */
  async subjectsOf(memberId: string): Promise<string[]> {
    if (!isId(memberId)) return [];
    const pending = this.pendingOf(memberId);
    const rows = await this.tx.all(
      `SELECT DISTINCT contracts.subject_id FROM ${PENDING} WHERE ${pending.sql} ORDER BY 1`,
      pending.values,
    );
    return rows.map((row) => String(row['subject_id']));
  }

  async of(memberId: string): Promise<PendingReminder[]> {
    if (!isId(memberId)) return [];
    const pending = this.pendingOf(memberId);
    const rows = await this.tx.all(
      `SELECT reminders.id, reminders.contract_id, contracts.subject_id, reminders.recipient_id FROM ${PENDING} WHERE ${pending.sql} ORDER BY reminders.id`,
      pending.values,
    );
    return rows.map(pendingOf);
  }

  /** Sets who receives them; `null` for the owner of the contract. */
  async address(
    pending: readonly PendingReminder[],
    { recipientId, now }: { readonly recipientId: string | null; readonly now: number },
  ): Promise<void> {
    const changed = pending.filter((one) => one.recipientId !== recipientId);
    if (changed.length === 0) return;
    const among = isOneOf(
      this.tx.dialect,
      'id',
      changed.map(({ id }) => id),
    );
    await this.tx.run(
      `UPDATE reminders SET recipient_id = ?, updated_at = ? WHERE tenant_id = ? AND ${among.sql} AND status = 'queued'`,
      [recipientId, now, this.call.tenantId, ...among.values],
    );
    for (const { id, contractId, recipientId: before } of changed)
      this.recorder.record({
        table: reminders,
        id,
        root: ofContract(contractId),
        before: { recipientId: before },
        after: { recipientId },
      });
  }

  private pendingOf(memberId: string): Fragment {
    return fragment(
      "outbox.tenant_id = ? AND outbox.state = 'queued' AND outbox.topic = 'reminder' AND reminders.status = 'queued' AND contracts.deleted_at IS NULL AND (reminders.recipient_id = ? OR (reminders.recipient_id IS NULL AND contracts.owner_id = ?))",
      this.call.tenantId,
      memberId,
      memberId,
    );
  }
}

/** Starts with the queued messages, which are few; each queued reminder is in one. */
const PENDING = `outbox JOIN reminders ON reminders.tenant_id = outbox.tenant_id AND reminders.message_id = outbox.id
  JOIN contracts ON contracts.tenant_id = reminders.tenant_id AND contracts.id = reminders.contract_id`;

const pendingOf = (row: Row): PendingReminder => ({
  id: String(row['id']),
  contractId: String(row['contract_id']),
  subjectId: String(row['subject_id']),
  recipientId: row['recipient_id'] === null ? null : String(row['recipient_id']),
});
