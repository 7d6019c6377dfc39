import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { keepNewest } from './open-flows.js';
import { numberOf, textOf } from './rows.js';

/** A calendar that is being connected: the browser is at the provider. */
export interface CalendarFlow {
  readonly stateHash: string;
  readonly tenantId: string;
  readonly providerId: string;
  /** The administrator who started it, and their session, which must still be active at the callback. */
  readonly memberId: string;
  readonly sessionId: string;
  /** The digest of the browser's cookie. */
  readonly browserHash: string;
  /** Sealed for `calendarFlowContext`. */
  readonly secretsSealed: string;
  readonly next: string;
  readonly expiresAt: number;
  readonly createdAt: number;
}

export const calendarFlowContext = ({ tenantId, stateHash }: Pick<CalendarFlow, 'tenantId' | 'stateHash'>): string =>
  `calendar_flows.secrets_sealed.${tenantId}.${stateHash}`;

export class CalendarFlowStore {
  constructor(private readonly tx: Transaction) {}

  /** Deletes expired flows too. Only the newest flows of a session are kept. */
  async insert(flow: CalendarFlow): Promise<void> {
    await this.tx.run('DELETE FROM calendar_flows WHERE expires_at <= ?', [flow.createdAt]);
    await this.tx.run(
      'INSERT INTO calendar_flows (state_hash, tenant_id, provider, member_id, session_id, browser_hash, secrets_sealed, next, asker, expires_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      [
        flow.stateHash,
        flow.tenantId,
        flow.providerId,
        flow.memberId,
        flow.sessionId,
        flow.browserHash,
        flow.secretsSealed,
        flow.next,
        flow.sessionId,
        flow.expiresAt,
        flow.createdAt,
      ],
    );
    await keepNewest(this.tx, { table: 'calendar_flows', asker: flow.sessionId });
  }

  /** Invalidates the state, whether or not it is valid; of concurrent requests, one gets it. */
  async take(stateHash: string): Promise<CalendarFlow | undefined> {
    const row = await this.tx.get(
      'DELETE FROM calendar_flows WHERE state_hash = ? RETURNING state_hash, tenant_id, provider, member_id, session_id, browser_hash, secrets_sealed, next, expires_at, created_at',
      [stateHash],
    );
    return row && flowOf(row);
  }
}

const flowOf = (row: Row): CalendarFlow => ({
  stateHash: textOf(row, 'state_hash'),
  tenantId: textOf(row, 'tenant_id'),
  providerId: textOf(row, 'provider'),
  memberId: textOf(row, 'member_id'),
  sessionId: textOf(row, 'session_id'),
  browserHash: textOf(row, 'browser_hash'),
  secretsSealed: textOf(row, 'secrets_sealed'),
  next: textOf(row, 'next'),
  expiresAt: numberOf(row, 'expires_at'),
  createdAt: numberOf(row, 'created_at'),
});
