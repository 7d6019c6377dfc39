/**
 * The meaning of a driver error, independent of the driver. Errors without an entry here are bugs. `in_doubt`: the
 * connection was lost during the commit, so the changes may or may not have been saved.
 */
export type DatabaseProblem =
  | 'unique'
  | 'foreign_key'
  | 'check'
  | 'not_null'
  | 'conflict'
  | 'busy'
  | 'unreachable'
  | 'in_doubt'
  | 'timeout'
  | 'full'
  | 'read_only';

export class DatabaseError extends Error {
  readonly problem: DatabaseProblem;
  /** The constraint's name, where the driver gives it (PostgreSQL). */
  readonly constraint: string | undefined;

  constructor(problem: DatabaseProblem, constraint: string | undefined, cause: unknown) {
    super(`database: ${problem}${constraint ? ` (${constraint})` : ''}`, { cause });
    this.name = 'DatabaseError';
    this.problem = problem;
    this.constraint = constraint;
  }
}

/** Uses only the driver's error code; messages change between versions. */
export function translateError(error: unknown): unknown {
  if (error instanceof DatabaseError || typeof error !== 'object' || error === null) return error;
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  if (typeof code !== 'string') return error;
  const problem = problemOf(code);
  return problem ? new DatabaseError(problem, typeof constraint === 'string' ? constraint : undefined, error) : error;
}

const PROBLEMS: Readonly<Record<string, DatabaseProblem>> = {
  SQLITE_CONSTRAINT_UNIQUE: 'unique',
  SQLITE_CONSTRAINT_PRIMARYKEY: 'unique',
  SQLITE_CONSTRAINT_FOREIGNKEY: 'foreign_key',
  SQLITE_CONSTRAINT_CHECK: 'check',
  SQLITE_CONSTRAINT_NOTNULL: 'not_null',
  SQLITE_FULL: 'full',
  // The commit may have reached the disk, where the next process to open the file will find it.
  SQLITE_IOERR_FSYNC: 'in_doubt',
  '23505': 'unique',
  '23503': 'foreign_key',
  '23514': 'check',
  '23502': 'not_null',
  '40001': 'conflict',
  '40P01': 'conflict',
  '25006': 'read_only',
  '25P03': 'unreachable',
  '25P04': 'unreachable',
  '53100': 'full',
  '53300': 'unreachable',
  '57014': 'timeout',
  ECONNREFUSED: 'unreachable',
  ECONNRESET: 'unreachable',
  ENOTFOUND: 'unreachable',
  EPIPE: 'unreachable',
  ETIMEDOUT: 'unreachable',
};

function problemOf(code: string): DatabaseProblem | undefined {
  if (PROBLEMS[code]) return PROBLEMS[code];
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return 'busy';
  if (code.startsWith('SQLITE_READONLY')) return 'read_only';
  if (code.startsWith('SQLITE_IOERR') || code.startsWith('SQLITE_CANTOPEN')) return 'unreachable';
  // PostgreSQL's classes 08 and 57P: the connection failed, or an operator ended it.
  if (code.startsWith('08') || code.startsWith('57P')) return 'unreachable';
  return undefined;
}

export const isDatabaseError = (error: unknown, problem?: DatabaseProblem): error is DatabaseError =>
  error instanceof DatabaseError && (problem === undefined || error.problem === problem);

/**
 * Whether the database is temporarily unavailable (unreachable, full or busy), so that the same work can be retried
 * later.
 */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof DatabaseError && UNAVAILABLE.has(error.problem);

const UNAVAILABLE: ReadonlySet<DatabaseProblem> = new Set(['unreachable', 'in_doubt', 'timeout', 'busy', 'full']);
