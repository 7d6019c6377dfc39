import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { isOneOf } from '../../data-plane-agent/base/database/fragments.js';
import { jsonOf, numberOf, numberOrNull, textOf } from './rows.js';

/** Where contract data is moved to. */
export const DIRECTIONS = ['agent', 'embedded'] as const;
export type Direction = (typeof DIRECTIONS)[number];
/** Exports and imports of all data of an organisation, which take the same steps on one data plane. */
export const ARCHIVINGS = ['export', 'import'] as const;
export type Archiving = (typeof ARCHIVINGS)[number];
type AnyDirection = Direction | Archiving;

/** The phases of a move in their order; a move that is not complete may be `cancelled` instead. `done`: an archive. */
export const MOVE_PHASES = [
  'preparing',
  'freezing',
  'copying_rows',
  'copying_files',
  'verifying',
  'switching',
  'moved',
  'cancelling',
  'cancelled',
  'done',
] as const;
export type MovePhase = (typeof MOVE_PHASES)[number];

/** How far the rows of a table have been copied. */
export interface TableProgress {
  readonly rows: number;
  /** The key of the last row that was copied, as the data plane wrote it. */
  readonly after: string | null;
  readonly isCopied: boolean;
  /** Of all values at both data planes, once they were compared: SHA-256 in hex. */
  readonly hash?: string;
}

export interface FilesProgress {
  readonly files: number;
  readonly bytes: number;
  readonly after: string | null;
  readonly isCopied: boolean;
  /** Files whose bytes the object store had lost before. */
  readonly missing: number;
  readonly verified: number;
  readonly verifiedAfter: string | null;
  readonly isVerified: boolean;
}

export interface MoveProgress {
  readonly tables: Readonly<Record<string, TableProgress>>;
  readonly files: FilesProgress;
}

export interface DataMoveRecord<D extends AnyDirection = Direction> {
  readonly id: string;
  readonly tenantId: string;
  readonly direction: D;
  readonly phase: MovePhase;
  readonly progress: MoveProgress;
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly finishedAt: number | null;
  readonly sourceDeletedAt: number | null;
}

export const NO_PROGRESS: MoveProgress = {
  tables: {},
  files: {
    files: 0,
    bytes: 0,
    after: null,
    isCopied: false,
    missing: 0,
    verified: 0,
    verifiedAfter: null,
    isVerified: false,
  },
};

/** The moves of contract data of one organisation. */
export class DataMoveStore {
  constructor(
    private readonly tx: Transaction,
    private readonly tenantId: string,
  ) {}

  /** The last one of these that was begun. */
  async latest<D extends AnyDirection>(directions: readonly D[]): Promise<DataMoveRecord<D> | undefined> {
    const among = isOneOf(this.tx.dialect, 'direction', directions);
    const row = await this.tx.get(
      `SELECT ${COLUMNS} FROM data_moves WHERE tenant_id = ? AND ${among.sql} ORDER BY started_at DESC, id DESC LIMIT 1`,
      [this.tenantId, ...among.values],
    );
    return row && moveOf<D>(row);
  }

  /** The one that is not complete, of any direction; there is at most one. */
  async open(): Promise<DataMoveRecord<AnyDirection> | undefined> {
    const row = await this.tx.get(`SELECT ${COLUMNS} FROM data_moves WHERE tenant_id = ? AND finished_at IS NULL`, [
      this.tenantId,
    ]);
    return row && moveOf<AnyDirection>(row);
  }

  async insert({ id, direction, phase, progress, startedAt }: DataMoveRecord<AnyDirection>): Promise<void> {
    await this.tx.run(
      'INSERT INTO data_moves (id, tenant_id, direction, phase, progress, started_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      [id, this.tenantId, direction, phase, JSON.stringify(progress), startedAt, startedAt],
    );
  }

  /** Returns false if another process has changed it since `before` was read or written. */
  async update(before: DataMoveRecord<AnyDirection>, after: DataMoveRecord<AnyDirection>): Promise<boolean> {
    const { phase, progress, updatedAt, finishedAt, sourceDeletedAt } = after;
    return (
      (await this.tx.run(
        'UPDATE data_moves SET phase = ?, progress = ?, updated_at = ?, finished_at = ?, source_deleted_at = ? WHERE tenant_id = ? AND id = ? AND updated_at = ?',
        [
          phase,
          JSON.stringify(progress),
          updatedAt,
          finishedAt,
          sourceDeletedAt,
          this.tenantId,
          before.id,
          before.updatedAt,
        ],
      )) > 0
    );
  }
}

const COLUMNS = 'id, tenant_id, direction, phase, progress, started_at, updated_at, finished_at, source_deleted_at';

const moveOf = <D extends AnyDirection>(row: Row): DataMoveRecord<D> => ({
  id: textOf(row, 'id'),
  tenantId: textOf(row, 'tenant_id'),
  direction: textOf(row, 'direction') as D, // written by `insert` only
  phase: textOf(row, 'phase') as MovePhase, // written above only
  progress: jsonOf<MoveProgress>(row, 'progress'),
  startedAt: numberOf(row, 'started_at'),
  updatedAt: numberOf(row, 'updated_at'),
  finishedAt: numberOrNull(row, 'finished_at'),
  sourceDeletedAt: numberOrNull(row, 'source_deleted_at'),
});
