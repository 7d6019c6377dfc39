const { availableParallelism } = require('node:os');

// Tests are TypeScript and run from source: tsx compiles what is imported. Programs that they start are compiled first.
module.exports = {
  'node-option': ['import=tsx'],
  reporter: './test/support/reporter.cjs',
  // A file shares the machine with others, and a first test may start a PostgreSQL; nothing else should come near this.
  timeout: 60_000,
  slow: 500,
  // Handles left open must show, not be swept away: as a run that does not end, or by test/support/each-file.ts.
  exit: false,
  require: ['./test/support/each-file.ts', './test/support/programs.ts'],
  // A file to a worker, and one worker more than cores, for one often waits for a server of its own.
  parallel: true,
  jobs: Math.min(6, availableParallelism() + 1),
  forbidOnly: Boolean(process.env.CI),
};
