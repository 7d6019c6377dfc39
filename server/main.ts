#!/usr/bin/env node
import { CONFIG_EXIT_CODE } from '../data-plane-agent/base/config.js';
import { nodeFault } from '../data-plane-agent/base/node-version.js';

// Everything else is imported only after the Node.js version was checked.
const fault = nodeFault(process.versions.node);
if (fault === undefined) {
  await (await import('./start.js')).start(process);
} else {
  process.stderr.write(`${fault}\n`);
  process.exitCode = CONFIG_EXIT_CODE;
}
