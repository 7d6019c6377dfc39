// @ts-check
import { runModule } from '../../base/run-module.js';

/* The entry point of the worker thread. */
await runModule(new URL('./worker', import.meta.url));
