// CommonJS because mocha loads reporters with require(), which warns about ES modules on older versions of Node.js.
const { appendFileSync } = require('node:fs');
const { reporters } = require('mocha');

/**
 * Mocha's Spec reporter. At the end (after global teardown) it lists each failed or skipped test with its reason, and a
 * last line `N passed, N failed[, N skipped]`. With REQUIRE_SERVICES=1 skipped tests count as failed, also in the exit
 * code. The files of failed tests are appended to the file that FAILED_FILES names, if it is set, one per line; `unknown` where
 * mocha does not tell.
 */
class PlainEnd extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    this.skipped = [];
    runner.on('pending', (test) => {
      this.skipped.push(test);
      if (process.env.REQUIRE_SERVICES === '1') noteFile(test);
    });
    this.failed = [];
    runner.on('fail', (test, error) => {
      this.failed.push(`${test.fullTitle()} (${firstLine(error)})`);
      noteFile(test, error);
    });
  }

  done(failures, fn) {
    const { passes, failures: failed } = this.stats;
    const skippedCounts = process.env.REQUIRE_SERVICES === '1' ? this.skipped.length : 0;
    const lines = [
      ...this.failed.map((failure) => `failed: ${failure}`),
      ...this.skipped.map(
        (test) => `${skippedCounts ? 'failed, was skipped' : 'skipped'}: ${test.fullTitle()} (${reasonOf(test)})`,
      ),
    ];
    const left = this.skipped.length - skippedCounts;
    lines.push(`${passes} passed, ${failed + skippedCounts} failed${left ? `, ${left} skipped` : ''}`);
    process.stdout.write(`${lines.join('\n')}\n`);
    fn(failures + skippedCounts);
  }
}

function noteFile(test, error) {
  if (!process.env.FAILED_FILES) return;
  // The hook of each-file.ts belongs to no file, but names it.
  const file = test.file ?? /^(\S+\.test\.ts) leaves handles open/.exec(firstLine(error))?.[1] ?? 'unknown';
  appendFileSync(process.env.FAILED_FILES, `${file}\n`);
}

const firstLine = (error) => String(error?.message ?? error).split('\n', 1)[0];

const reasonOf = (test) => test.skipReason ?? 'no reason given';

module.exports = PlainEnd;
