import { expect } from 'chai';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAILURES } from '../../data-plane-agent/base/failures.js';
import { warn, WARNINGS } from '../../data-plane-agent/base/warnings.js';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import { openapi } from '../../server/http/openapi.js';
import { read, root, sourceFiles } from '../support/source.js';

const PAGE = join(root, 'docs', 'api-conventions.md');
const HEAD = '| code | meaning | details |';
const CATALOGUE = 'data-plane-agent/base/warnings.ts';
const codes = Object.keys(WARNINGS);
const product = sourceFiles()
  .filter((file) => !file.startsWith('test/') && file !== CATALOGUE)
  .map((file) => [file, read(file)] as const);
const found = (pattern: RegExp) =>
  product.flatMap(([file, text]) => [...text.matchAll(pattern)].map(([, code = '']) => ({ file, code })));

/** `UPDATE_DOCS=1` regenerates the table of the page; review the diff afterwards. */
describe('the catalogue of warnings', () => {
  it('gives the meaning of each in a sentence', () => {
    expect(
      Object.entries(WARNINGS)
        .filter(([, { meaning }]) => !/^[A-Z].{10,}\.$/.test(meaning))
        .map(([code]) => code),
    ).to.deep.equal([]);
  });

  it('is the only place where codes of warnings are defined: all other codes are those of failures', () => {
    expect(found(/\bwarn\(\s*'([A-Z_]+)'/g).filter(({ code }) => !codes.includes(code))).to.deep.equal([]);
    // The codes of document extraction are typed, and are reported through `warn`.
    const made = found(/\bcode: [`']([^`']*)[`'],\s+message\b/g).filter(
      ({ file, code }) =>
        /^(server|data-plane-agent\/plane\/(domain|store|steps|operations))\//.test(file) &&
        !Object.keys(FAILURES).includes(code),
    );
    // Obstacles to offboarding are not warnings.
    expect(made).to.deep.equal([{ file: 'server/tenants/handover.ts', code: 'NO_SUCCESSOR' }]);
  });

  it('has no unused code', () => {
    const given = new Set(
      found(/'([A-Z][A-Z_]+)'/g)
        .filter(({ file }) => file !== 'data-plane-agent/base/failures.ts')
        .map(({ code }) => code),
    );
    expect(codes.filter((code) => !given.has(code))).to.deep.equal([]);
  });

  it('has the meaning as the default message, with the details as further properties', () => {
    expect(warn('BANK_SERIAL_REUSED', { paymentIds: ['x'] })).to.deep.equal({
      code: 'BANK_SERIAL_REUSED',
      message: WARNINGS.BANK_SERIAL_REUSED.meaning,
      paymentIds: ['x'],
    });
    expect(warn('OPEN_TASKS', { message: 'Two.' })).to.deep.equal({ code: 'OPEN_TASKS', message: 'Two.' });
  });

  it('is in the OpenAPI document, code by code, with meaning and details', () => {
    const document = openapi(ENDPOINTS, { productName: 'Duebook', version: '1.2.3' }) as {
      readonly 'x-warnings': Record<string, { meaning: string; details: { properties?: object } }>;
      readonly info: { readonly description: string };
    };
    expect(
      Object.entries(document['x-warnings']).map(([code, { meaning, details }]) => [
        code,
        meaning,
        Object.keys(details.properties ?? {}),
      ]),
    ).to.deep.equal(
      Object.entries(WARNINGS).map(([code, { meaning, details }]) => [code, meaning, Object.keys(details.properties)]),
    );
    expect(codes.filter((code) => !document.info.description.includes(`| \`${code}\` | `))).to.deep.equal([]);
  });

  it('is in docs/api-conventions.md, code by code, with meaning and details', () => {
    const page = readFileSync(PAGE, 'utf8');
    const at = page.indexOf(HEAD);
    const end = page.indexOf('\n\n', at);
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(PAGE, `${page.slice(0, at)}${table()}${page.slice(end)}`);
    expect(readFileSync(PAGE, 'utf8')).to.contain(
      `${table()}\n\n`,
      'docs/api-conventions.md is out of date: run this test with UPDATE_DOCS=1',
    );
  });
});

function table(): string {
  const rows = Object.entries(WARNINGS).map(([code, { meaning, details }]) => {
    const names = Object.keys(details.properties).map((name) => `\`${name}\``);
    return `| \`${code}\` | ${meaning} | ${names.join(', ')} |`;
  });
  return [HEAD, '| --- | --- | --- |', ...rows].join('\n');
}
