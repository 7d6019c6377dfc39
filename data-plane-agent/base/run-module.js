// @ts-check
import { existsSync } from 'node:fs';

/**
 * Runs a module in a worker thread, as its entry point does, which is a plain JavaScript file. Tests run from source,
 * and threads do not inherit the TypeScript loader of the process, so it is registered here from the development
 * dependencies. `module` is the URL of the module without `.js` or `.ts`.
 * @param {URL} module
 */
export async function runModule({ href }) {
  const compiled = new URL(`${href}.js`);
  if (existsSync(compiled)) {
    await import(compiled.href);
    return;
  }
  const loader = 'tsx/esm/api';
  const { tsImport } = await import(loader);
  await tsImport(`${href}.ts`, import.meta.url);
}
