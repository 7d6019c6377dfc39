// @ts-check
import { runModule } from '../run-module.js';

/* The entry point of the worker thread. */
await runModule(new URL('./thread', import.meta.url));
