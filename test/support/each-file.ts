import { config } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';

// Failures show whole values: `expected [ …(3) ]` does not name what failed.
config.truncateThreshold = 0;

/**
 * Hooks around each test file of a parallel run. Workers are killed when their files are done, which would hide open
 * handles. Therefore each file must not leave more handles that keep a process alive than existed before.
 */
export const mochaHooks =
  process.env['MOCHA_WORKER_ID'] === undefined
    ? {}
    : {
        async beforeAll() {
          await Promise.resolve(); // mocha's own timer must be running, as in the other hook
          found = open();
        },
        async afterAll(this: Mocha.Context) {
          this.timeout(180_000);
          if (process.env['TEST_POSTGRES_URL']) await (await import('./postgres.js')).dropRest();
          // Closed handles take a moment to disappear.
          for (const deadline = Date.now() + 10_000; Date.now() < deadline && left().length > 0;) await sleep(20);
          if (left().length > 0)
            throw new Error(
              `${this.test?.parent?.suites[0]?.file ?? 'This file'} leaves handles open: ${left().join(', ')}.`,
            );
        },
      };

let found: string[] = [];

const open = (): string[] => process.getActiveResourcesInfo();

function left(): string[] {
  const known = [...found];
  return open().filter((resource) => {
    const at = known.indexOf(resource);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
}
