/**
 * What a driver's error means, whichever driver it was. Anything that is not named here is a fault of ours. `in_doubt`
 * is a connection that was lost while its transaction ended: what was changed may be there or not.
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

/** Drivers report by code; their texts change between versions and are never read. */
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
  // The commit may have come to the disk, where the next process to open the file finds it.
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
  // The connection failed, or an operator ended it: PostgreSQL's classes 08 and 57P.
  if (code.startsWith('08') || code.startsWith('57P')) return 'unreachable';
  return undefined;
}

export const isDatabaseError = (error: unknown, problem?: DatabaseProblem): error is DatabaseError =>
  error instanceof DatabaseError && (problem === undefined || error.problem === problem);

/** Whether the database is out of reach, full or too busy for now: the same work can be done later. */
export const isAway = (error: unknown): boolean => error instanceof DatabaseError && AWAY.has(error.problem);

const AWAY: ReadonlySet<DatabaseProblem> = new Set(['unreachable', 'in_doubt', 'timeout', 'busy', 'full']);
