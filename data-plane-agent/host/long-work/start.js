// @ts-check
import { existsSync } from 'node:fs';

/*
 * The entry point of the worker thread, as a plain JavaScript file. Tests run from source, and threads do not inherit
 * the TypeScript loader of the process, so it is registered here from the development dependencies.
 */
const compiled = new URL('./worker.js', import.meta.url);
if (existsSync(compiled)) await import(compiled.href);
else {
  const loader = 'tsx/esm/api';
  const { tsImport } = await import(loader);
  await tsImport('./worker.ts', import.meta.url);
}
