#!/usr/bin/env node
import { CONFIG_EXIT_CODE } from '../base/config.js';
import { nodeFault } from '../base/node-version.js';

// The other modules are imported only on a Node.js version that can load them.
const fault = nodeFault(process.versions.node);
if (fault === undefined) {
  await (await import('./start.js')).start(process);
} else {
  process.stderr.write(
    `${process.argv.includes('--json') ? JSON.stringify({ error: { code: 'NODE_TOO_OLD', message: fault } }, null, 2) : fault}\n`,
  );
  process.exitCode = CONFIG_EXIT_CODE;
}
