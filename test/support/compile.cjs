// CommonJS because it is loaded before any TypeScript.
const { spawnSync } = require('node:child_process');
const { dirname, join } = require('node:path');

const root = join(__dirname, '..', '..');

/** Set for the processes that a run starts: one compilation is enough for all. */
const DONE = 'TESTS_COMPILED';

/**
 * Compiles changed files of TypeScript to `dist-test/`, in a second or two. Checks only the syntax; `npm run check`
 * checks types. Throws if something does not compile.
 */
function compileOnce() {
  if (process.env[DONE] === 'yes') return;
  const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
  const { status, error } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.programs.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('the tests and programs do not compile', { cause: error });
  process.env[DONE] = 'yes';
}

module.exports = { compileOnce };
