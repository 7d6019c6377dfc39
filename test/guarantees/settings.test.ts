import { expect } from 'chai';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Setting } from '../../data-plane-agent/base/config.js';
import { AGENT_SETTINGS } from '../../data-plane-agent/agent/config.js';
import { SETTINGS } from '../../server/config.js';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import { openapi } from '../../server/http/openapi.js';
import { root } from '../support/source.js';

const PAGE = join(root, 'docs', 'configuration.md');
const HEAD = '| setting | default | meaning |';
/** Variables on the page that other programs or the tests read. */
const NOT_OURS = new Set(['NODE_ENV', 'UPDATE_DOCS']);

/** `UPDATE_DOCS=1` regenerates the table; review the diff afterwards. */
describe('the page of settings', () => {
  const all = Object.values(SETTINGS);
  const table = tableOf(all);

  it('describes every setting as the program does', () => {
    const page = readFileSync(PAGE, 'utf8');
    const at = page.indexOf(HEAD);
    const end = page.indexOf('\n\n', at);
    if (process.env.UPDATE_DOCS === '1') writeFileSync(PAGE, `${page.slice(0, at)}${table}${page.slice(end)}`);
    expect(readFileSync(PAGE, 'utf8')).to.contain(
      `${table}\n\n`,
      'docs/configuration.md is out of date: run this test with UPDATE_DOCS=1',
    );
  });

  it('describes both defaults of each setting that production changes, and so does the API document', () => {
    const [development, production] = [defaults(all, false), defaults(all, true)];
    const changed = all.map(({ name }) => name).filter((name) => development.get(name) !== production.get(name));
    expect(changed.length).to.be.greaterThan(3);
    const section = readFileSync(PAGE, 'utf8').split('\n## Production\n')[1]?.split('\n## ')[0] ?? '';
    const { info } = openapi(ENDPOINTS, { productName: 'Duebook', version: '0.1.0' }) as {
      info: { description: string };
    };
    for (const name of changed) {
      expect(section, name).to.contain(`\`${name}\``);
      expect(info.description, name).to.contain(`\`${name}\``);
    }
  });

  it('has exactly one table', () => {
    expect(
      readFileSync(PAGE, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('| ---')),
    ).to.have.length(1);
  });

  it('names no variable that is not a setting', () => {
    const names = new Set(Object.values(SETTINGS).map(({ name }) => name));
    const named = [...readFileSync(PAGE, 'utf8').matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`/g)].map(
      ([, name = '']) => name,
    );
    expect(
      named.filter((name) => !names.has(name) && !names.has(name.replace(/_FILE$/, '')) && !NOT_OURS.has(name)),
    ).to.deep.equal([]);
  });
});

describe('the page of the agent', () => {
  const AGENT_PAGE = join(root, 'docs', 'data-plane-agent-running.md');

  it('describes every setting as the program does', () => {
    const table = tableOf(Object.values(AGENT_SETTINGS));
    const page = readFileSync(AGENT_PAGE, 'utf8');
    const at = page.indexOf(HEAD);
    const end = page.indexOf('\n\n', at);
    if (process.env.UPDATE_DOCS === '1') writeFileSync(AGENT_PAGE, `${page.slice(0, at)}${table}${page.slice(end)}`);
    expect(readFileSync(AGENT_PAGE, 'utf8')).to.contain(
      `${table}\n\n`,
      'docs/data-plane-agent-running.md is out of date: run this test with UPDATE_DOCS=1',
    );
  });
});

function tableOf(settings: readonly Setting<unknown, unknown>[]): string {
  const texts = { development: defaults(settings, false), production: defaults(settings, true) };
  const rows = settings.map(
    (setting) => `| \`${setting.name}\` | ${defaultText(setting, texts)} | ${setting.about.replaceAll('|', '\\|')} |`,
  );
  return [HEAD, '| --- | --- | --- |', ...rows].join('\n');
}

type Texts = ReadonlyMap<string, string | undefined>;

/** The defaults by variable name. */
function defaults(settings: readonly Setting<unknown, unknown>[], production: boolean): Texts {
  const texts = new Map<string, string | undefined>();
  for (const { name, default: given } of settings) {
    const written = typeof given === 'function' ? given({ production, textOf: (other) => texts.get(other) }) : given;
    texts.set(name, written === undefined || written === '' ? undefined : String(written));
  }
  return texts;
}

function defaultText(
  { name, required, secret }: Setting<unknown, unknown>,
  { development, production }: { development: Texts; production: Texts },
): string {
  if (required === true) return 'none: required';
  const usual = development.get(name);
  const shown = usual === undefined ? 'none' : `\`${usual}\``;
  if (required === 'in production')
    return `${usual === undefined && secret === true ? 'made at the first start' : shown}; required in production`;
  const strict = production.get(name);
  return strict === usual ? shown : `${shown}; in production ${strict === undefined ? 'none' : `\`${strict}\``}`;
}
