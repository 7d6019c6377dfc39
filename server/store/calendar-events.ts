import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { textOf } from './rows.js';

/** An event in the external calendar, for one payment line. */
export interface CalendarEventRecord {
  readonly lineId: string;
  /** The provider's id. */
  readonly eventId: string;
  /** A keyed digest of what the event shows; empty if that is not known. */
  readonly digest: string;
}

/** The events of a connection. */
export class CalendarEventStore {
  private readonly of: readonly [tenantId: string, connectionId: string];

  constructor(
    private readonly tx: Transaction,
    { tenantId, id }: { readonly tenantId: string; readonly id: string },
  ) {
    this.of = [tenantId, id];
  }

  /** The events of lines after an id, or from the first one, up to and including another one if given, by the line's id. */
  async between({
    after,
    until,
    limit,
  }: {
    after: string | null;
    until: string | null;
    limit: number;
  }): Promise<CalendarEventRecord[]> {
    const rows = await this.tx.all(
      `SELECT line_id, event_id, digest FROM calendar_events WHERE tenant_id = ? AND connection_id = ?${after === null ? '' : ' AND line_id > ?'}${until === null ? '' : ' AND line_id <= ?'} ORDER BY line_id LIMIT ?`,
      [...this.of, ...(after === null ? [] : [after]), ...(until === null ? [] : [until]), limit],
    );
    return rows.map(eventOf);
  }

  async find(lineId: string): Promise<CalendarEventRecord | undefined> {
    const row = await this.tx.get(
      'SELECT line_id, event_id, digest FROM calendar_events WHERE tenant_id = ? AND connection_id = ? AND line_id = ?',
      [...this.of, lineId],
    );
    return row && eventOf(row);
  }

  async put({ lineId, eventId, digest, at }: CalendarEventRecord & { readonly at: number }): Promise<void> {
    await this.tx.run(
      'INSERT INTO calendar_events (tenant_id, connection_id, line_id, event_id, digest, updated_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (tenant_id, connection_id, line_id) DO UPDATE SET event_id = excluded.event_id, digest = excluded.digest, updated_at = excluded.updated_at',
      [...this.of, lineId, eventId, digest, at],
    );
  }

  /** Records an event that was found in the calendar. Returns false if the line has a recorded event already. */
  async adopt({
    lineId,
    eventId,
    at,
  }: Pick<CalendarEventRecord, 'lineId' | 'eventId'> & { readonly at: number }): Promise<boolean> {
    const adopted = await this.tx.run(
      "INSERT INTO calendar_events (tenant_id, connection_id, line_id, event_id, digest, updated_at) VALUES (?, ?, ?, ?, '', ?) ON CONFLICT (tenant_id, connection_id, line_id) DO NOTHING",
      [...this.of, lineId, eventId, at],
    );
    return adopted === 1;
  }

  async delete(lineId: string): Promise<void> {
    await this.tx.run('DELETE FROM calendar_events WHERE tenant_id = ? AND connection_id = ? AND line_id = ?', [
      ...this.of,
      lineId,
    ]);
  }
}

const eventOf = (row: Row): CalendarEventRecord => ({
  lineId: textOf(row, 'line_id'),
  eventId: textOf(row, 'event_id'),
  digest: textOf(row, 'digest'),
});
