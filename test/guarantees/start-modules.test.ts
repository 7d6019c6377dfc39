import { expect } from 'chai';
import { importsOf, read, sourceFiles } from '../support/source.js';

/**
 * The packages that each start of a server loads; those of its database come in addition. Most of the time of a start is
 * spent on modules, so that another one here needs a reason: it can be imported when it is first needed.
 */
const AT_START = [
  '@koa/cors',
  '@koa/router',
  '@node-rs/argon2',
  'ajv-formats/dist/formats.js',
  'ajv/dist/2020.js',
  'csv-parse',
  'currency-codes',
  'fflate',
  'helmet',
  'ibantools',
  'jose',
  'koa',
  'lru-cache',
  'marked',
  'node-schedule',
  'openid-client',
  'otplib',
  'pino',
  'prom-client',
  'rate-limiter-flexible',
  'typebox',
  'uuid',
];

/** What is loaded with the first request, call or connection that needs it, with all that only it imports. */
const LATER = [
  'data-plane-agent/plane/domain/extraction/extract.ts',
  'server/data-planes/link/links.ts',
  'server/endpoints/examples.ts',
  'server/http/openapi.ts',
];

/** Without `import type` and without imports that are done later, in a function. */
function importedAtOnce(file: string): string[] {
  const text = read(file)
    .replaceAll(/^import type [\s\S]*?;$/gm, '')
    .replaceAll(/\bimport\s*\(/g, 'later(');
  return importsOf(file, text);
}

describe('the start of a server', () => {
  const files = new Set(sourceFiles());
  const reached = new Set<string>();
  const packages = new Set<string>();
  before(() => {
    const waiting = ['server/main.ts', 'server/start.ts', 'server/serve.ts'];
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      if (reached.has(file)) continue;
      reached.add(file);
      for (const target of importedAtOnce(file)) {
        if (files.has(target)) waiting.push(target);
        else if (!/^node:|\.json$/.test(target)) packages.add(target);
      }
    }
  });

  it('loads these packages and no others', () => {
    expect([...packages].toSorted()).to.deep.equal(AT_START);
  });

  it('does not load what most processes never need', () => {
    expect(LATER.filter((file) => !files.has(file))).to.deep.equal([]);
    expect(LATER.filter((file) => reached.has(file))).to.deep.equal([]);
  });
});
