import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Around each test file of a parallel run. There a worker is ended when its files are done, so that a handle left open
 * would be swept away unseen: each file is asked instead to leave nothing that keeps a process alive beyond what it
 * found.
 */
export const mochaHooks =
  process.env['MOCHA_WORKER_ID'] === undefined
    ? {}
    : {
        async beforeAll() {
          await Promise.resolve(); // by then mocha's own timer is going, as it is in the other hook
          found = open();
        },
        async afterAll(this: Mocha.Context) {
          this.timeout(30_000);
          if (process.env['TEST_POSTGRES_URL']) await (await import('./postgres.js')).dropRest();
          // Closed handles may take a moment to disappear.
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
