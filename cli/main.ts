#!/usr/bin/env node
import { systemClock } from '../data-plane-agent/base/clock.js';
import { loadDotEnv } from '../data-plane-agent/base/config.js';
import { createIo } from './io.js';
import { run } from './run.js';

process.exitCode = await run(process.argv.slice(2), {
  io: createIo(process),
  clock: systemClock,
  env: () => loadDotEnv('.env', process.env),
  nodeVersion: process.versions.node,
  process,
});
