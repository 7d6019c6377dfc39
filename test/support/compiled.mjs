// JavaScript, because it is loaded before any TypeScript: `node --import=./test/support/compiled.mjs`.
import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import threads from 'node:worker_threads';
import { compileOnce } from './compile.cjs';

/**
 * TypeScript of this checkout is loaded as TypeScript's own compiler has compiled it to `dist-test/`, as the ES modules
 * that the product consists of: a file keeps the address of its source, and `import './x.js'` loads the code of `x.ts`.
 */
const root = pathToFileURL(join(import.meta.dirname, '..', '..', '/')).href;
const compiled = new URL('dist-test/', root).href;
const folders = ['cli/', 'data-plane-agent/', 'server/', 'test/'].map((folder) => new URL(folder, root).href);

const isOurs = (url) => url.startsWith(root) && folders.some((folder) => url.startsWith(folder));

/** The address of what a source was compiled to. */
const pathOf = (url) => compiled + url.slice(root.length).replace(/\.ts$/, '.js');

/** By the address of a compiled file, whether its source exists. */
const known = new Map();

function sourceOf(url) {
  const source = url.replace(/\.js$/, '.ts');
  if (!known.has(source)) known.set(source, existsSync(fileURLToPath(source)));
  return known.get(source) ? source : undefined;
}

compileOnce();

// No hook applies to threads. These run what was compiled, as started programs do.
threads.Worker = class extends threads.Worker {
  constructor(entry, options) {
    const url = entry instanceof URL ? entry.href : undefined;
    super(url !== undefined && isOurs(url) && sourceOf(url) ? new URL(pathOf(url)) : entry, options);
  }
};
module.syncBuiltinESMExports();

if (module.registerHooks === undefined) {
  // Before Node.js 22.15, on which a part of the tests also runs. As ES modules only: as CommonJS too, it would load
  // what is imported dynamically a second time.
  await import('tsx/esm');
} else {
  module.setSourceMapsSupport(true); // of our files, not of those in node_modules
  module.registerHooks({
    resolve(specifier, context, next) {
      const isFile = specifier.startsWith('.') || specifier.startsWith('file:');
      if (isFile && specifier.endsWith('.js')) {
        const url = new URL(specifier, context.parentURL).href;
        const source = isOurs(url) ? sourceOf(url) : undefined;
        if (source !== undefined) return { url: source, format: 'module', shortCircuit: true };
      }
      return next(specifier, context);
    },
    load(url, context, next) {
      if (!url.endsWith('.ts') || !isOurs(url)) return next(url, context);
      const path = pathOf(url);
      const source = readFileSync(fileURLToPath(path), 'utf8').replace(
        /(?<=\/\/# sourceMappingURL=)\S+\s*$/,
        // Node.js reads a map from a path, not from an address.
        `${new URL(path).pathname}.map`,
      );
      return { format: 'module', source, shortCircuit: true };
    },
  });
}
