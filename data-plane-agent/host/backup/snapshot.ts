/** An applied migration of a database, as `schema_migrations` has it. */
export interface AppliedMigration {
  readonly id: string;
  readonly checksum: string;
}

/** A file that the contract data refers to. */
export interface ReferredObject {
  readonly key: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** One state of a database, which stays readable while other processes write. It must be closed. */
export interface DatabaseSnapshot {
  readonly dialect: 'sqlite' | 'postgres';
  readonly extension: 'db' | 'dump';
  /** Of PostgreSQL, such as `15.18`. */
  readonly serverVersion: string | null;
  readonly migrations: readonly AppliedMigration[];
  /** About how many bytes its copy will have. */
  readonly bytes: Promise<number>;
  /** Copies the state into a new file. */
  copyTo(target: string, onProgress: (done: number, total: number) => void): Promise<void>;
  /** The files that it refers to; none in a platform database. */
  objects(): AsyncIterable<ReferredObject>;
  close(): Promise<void>;
}
