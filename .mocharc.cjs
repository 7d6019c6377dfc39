// Tests are TypeScript and run from source: tsx compiles what is imported.
module.exports = {
  'node-option': ['import=tsx'],
  reporter: './test/support/reporter.cjs',
  // A first test may start a PostgreSQL; nothing else should come near this.
  timeout: 20_000,
  slow: 500,
  // Handles left open must show as a run that does not end, not be swept away.
  exit: false,
  parallel: false,
  forbidOnly: Boolean(process.env.CI),
};
