const { availableParallelism } = require('node:os');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');

// This file is loaded before any TypeScript: native modules crash an older Node.js without a message.
const OLDEST_NODE = '22.14.0'; // as in data-plane-agent/base/node-version.ts, which cannot be imported here
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 14)) {
  process.stderr.write(
    `Duebook's tests need Node.js ${OLDEST_NODE} or newer and were started on ${process.versions.node}: start them through npm ("npm test", "npx mocha"), which uses the Node.js installed by "npm ci", or install Node.js 24.\n`,
  );
  process.exit(78);
}

const { memoryFolder } = require('./test/support/memory-folder.cjs');

// Not for `npm run test:alone`, which tests what happens on a disk and how much memory is needed.
const folder = process.env.TMPDIR || process.argv.includes('--no-parallel') ? undefined : memoryFolder();
if (folder !== undefined) process.env.TMPDIR = folder;

module.exports = {
  // Compiles changed TypeScript, of tests, the product and the programs that tests start, and loads what was compiled.
  'node-option': [`import=${pathToFileURL(join(__dirname, 'test', 'support', 'compiled.mjs')).href}`],
  reporter: './test/support/reporter.cjs',
  // Generous: machines differ by a factor of three, the cores are shared with other test files, and a first test may have to start
  // PostgreSQL. What takes too long is measured by the bench.
  timeout: 120_000,
  slow: 500,
  // Handles left open must be noticed: the run does not end, or test/support/each-file.ts reports them.
  exit: false,
  require: ['./test/support/each-file.ts', './test/support/programs.ts'],
  // Each file runs in a worker. One worker more than cores, because tests often wait for a server or for the disk. With two more, a
  // part of the suite took a tenth more processor time and no less time.
  parallel: true,
  jobs: Math.min(6, availableParallelism() + 1),
  forbidOnly: Boolean(process.env.CI),
};
