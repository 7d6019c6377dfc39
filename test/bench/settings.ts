/** The cases that need no contracts: they create their own accounts. */
const WITHOUT_DATASET: ReadonlySet<string> = new Set(['ai-gateway', 'enumeration', 'files', 'reminders']);
const LARGE = 1_000_000;

/** `npm run bench -- --large` measures a book of a million contracts. */
const usual = process.argv.includes('--large') ? LARGE : 100_000;

/** Contracts of the data set. Most have four lines; some have one to sixty. */
export const CONTRACTS = numberOf('BENCH_CONTRACTS', usual);
/** Seconds per round of one side of one case. */
export const SECONDS = numberOf('BENCH_SECONDS', 1);
/** On PostgreSQL. The data set is made for each run there, so that it is smaller unless it is asked for. */
export const POSTGRES_CONTRACTS = numberOf('BENCH_POSTGRES_CONTRACTS', Math.min(CONTRACTS, 10_000));
/** What lists and contracts are drawn by: printed, so that a run can be repeated. */
export const SEED = numberOf('BENCH_SEED', 1 + Math.floor(Math.random() * 1_000_000));
/** If empty, all cases are measured; `postgres` adds the cases on PostgreSQL. */
export const CASES: ReadonlySet<string> = new Set(
  (process.env['BENCH_CASES'] ?? '')
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== ''),
);

export const isWanted = (key: string): boolean => CASES.size === 0 || CASES.has(key);
export const needsDataset =
  CASES.size === 0 || [...CASES].some((key) => key !== 'postgres' && !WITHOUT_DATASET.has(key));
/** Whether a case is wanted that is measured on the data set on SQLite, without the link. */
export const needsSqlite =
  CASES.size === 0 || [...CASES].some((key) => !['link', 'postgres'].includes(key) && !WITHOUT_DATASET.has(key));

function numberOf(name: string, otherwise: number): number {
  const given = Number(process.env[name] ?? otherwise);
  if (!Number.isSafeInteger(given) || given < 1) throw new RangeError(`${name} must be a whole number above 0`);
  return given;
}
