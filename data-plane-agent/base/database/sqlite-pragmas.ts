/**
 * Set on each connection, because later connections to a WAL file default to synchronous=NORMAL, which loses the last
 * commits on a power failure.
 */
export const EVERY_CONNECTION = [
  'synchronous = FULL',
  'foreign_keys = ON',
  'busy_timeout = 50',
  'temp_store = MEMORY',
  // Writes that share a commit may change some thousand pages. Those that do not fit go to the log before the commit,
  // and once more if they are changed again.
  'cache_size = -16384',
];

/** SQLite would wait in the only thread; the write lock is waited for aside. */
export const NEVER_WAIT = 'busy_timeout = 0';

/** For the probe, which must read from the disk and not from its cache. */
export const NO_CACHE = 'cache_size = 0';

/**
 * For those that only read, 4 MB each: they all keep the same pages, and what does not fit is in the system's cache. With
 * 16 MB lists were no faster, and a server kept some 50 MB more after a load.
 */
export const SMALL_CACHE = 'cache_size = -4096';
