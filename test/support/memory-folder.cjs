// CommonJS because .mocharc.cjs loads it, before any TypeScript.
const { readFileSync, statfsSync } = require('node:fs');

const FOLDER = '/dev/shm';
/** What the temporary files of a whole run need at most, and what its processes need besides. */
const FILES_BYTES = 4 * 2 ** 30;
const PROCESSES_BYTES = 4 * 2 ** 30;

const system = {
  mounts: () => readFileSync('/proc/mounts', 'utf8'),
  freeBytes: () => {
    const { bavail, bsize } = statfsSync(FOLDER);
    return bavail * bsize;
  },
  memoryBytes: () => process.availableMemory(),
};

/**
 * The folder in memory for the temporary files of tests; undefined where there is none, too little room, or where
 * programs may not be started from it, as some tests do. In it a commit does not wait for the disk, which a run that
 * commits some hundred thousand times would spend minutes on; what is written is the same.
 */
function memoryFolder({ mounts, freeBytes, memoryBytes } = system) {
  try {
    const options = mounts()
      .split('\n')
      .map((line) => line.split(' '))
      .findLast(([, at, type]) => at === FOLDER && type === 'tmpfs')?.[3]
      ?.split(',');
    if (!options?.includes('rw') || options.includes('noexec')) return undefined;
    return freeBytes() >= FILES_BYTES && memoryBytes() >= FILES_BYTES + PROCESSES_BYTES ? FOLDER : undefined;
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'EACCES') return undefined; // not Linux, or not visible
    throw error;
  }
}

module.exports = { memoryFolder, FOLDER };
