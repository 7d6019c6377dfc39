// @ts-check
import { existsSync } from 'node:fs';

/*
 * Where the thread begins: with a file as it lies on the disk. Tests run from source, and a thread does not take over from its process how
 * TypeScript is read: there it is told again, by what the developers' installation has.
 */
const compiled = new URL('./worker.js', import.meta.url);
if (existsSync(compiled)) await import(compiled.href);
else {
  const loader = 'tsx/esm/api';
  const { tsImport } = await import(loader);
  await tsImport('./worker.ts', import.meta.url);
}
