import { expect } from 'chai';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FEATURES, PLANS, type Feature, type PlanCode } from '../../server/access/permissions.js';
import { createPlans, FEATURE_MEANINGS, parsePlanCatalog } from '../../server/access/plans.js';
import { SETTINGS } from '../../server/config.js';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import { featuresOf } from '../../server/http/admission.js';
import type { Endpoint } from '../../server/http/endpoint.js';
import { read, root } from '../support/source.js';

const PAGE = join(root, 'docs', 'plans.md');
const endpoints: readonly Endpoint[] = Object.values(ENDPOINTS);

/** `UPDATE_DOCS=1` updates the tables of the page; check the difference before committing it. */
describe('the plans page', () => {
  for (const [name, table] of Object.entries({ features: holdings(), 'endpoints that need a feature': needs() }))
    it(`has an up-to-date table of ${name}`, () => {
      const page = readFileSync(PAGE, 'utf8');
      const at = page.indexOf(table.split('\n')[0] ?? '');
      expect(at, 'the head of the table').to.be.greaterThan(0);
      if (process.env['UPDATE_DOCS'] === '1')
        writeFileSync(PAGE, `${page.slice(0, at)}${table}${page.slice(page.indexOf('\n\n', at))}`);
      expect(readFileSync(PAGE, 'utf8')).to.contain(
        `${table}\n\n`,
        'docs/plans.md is out of date: run this test with UPDATE_DOCS=1',
      );
    });

  it('shows a catalogue that the setting accepts', () => {
    const [, json = ''] = /```json\n([^`]+)```/.exec(read('docs/plans.md')) ?? [];
    expect(parsePlanCatalog(json)).to.have.property('ok', true);
  });

  it('names only settings and plans that exist', () => {
    const page = read('docs/plans.md');
    const names = new Set(Object.values(SETTINGS).map((setting) => setting.name));
    const named = [...page.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`/g)].map(([, name = '']) => name);
    const others = ['PLAN_FEATURE_NOT_ENABLED', 'PLAN_CATALOG_FILE'];
    expect(named.filter((name) => !names.has(name) && !others.includes(name))).to.deep.equal([]);
    for (const [, plan = ''] of page.matchAll(/--plan (\w+)/g)) expect(PLANS).to.include(plan);
  });

  it('is linked from the README', () => {
    expect(read('README.md')).to.contain('(docs/plans.md)');
  });
});

function holdings(): string {
  const [catalogue, ownHost] = [createPlans({ selfHosted: false }), createPlans({ selfHosted: true })];
  const cell = (plan: PlanCode, feature: Feature): string => {
    if (catalogue.features(plan)[feature]) return 'yes';
    return ownHost.features(plan)[feature] ? 'self-hosted' : 'no';
  };
  return table(
    ['feature', ...PLANS, 'what it is'],
    FEATURES.map((feature) => [
      `\`${feature}\``,
      ...PLANS.map((plan) => cell(plan, feature)),
      FEATURE_MEANINGS[feature],
    ]),
  );
}

function needs(): string {
  const neededBy = (feature: Feature): string => {
    const having = endpoints.filter((endpoint) => featuresOf(endpoint).includes(feature)).map(({ route }) => route);
    if (feature === 'apiAccess')
      return `every endpoint that needs an access token, outside \`/auth\`. Requests of Duebook's own pages do not need it`;
    return having.length === 0 ? 'no endpoint of this version' : having.map((route) => `\`${route}\``).join(', ');
  };
  return table(
    ['feature', 'needed by'],
    FEATURES.map((feature) => [`\`${feature}\``, neededBy(feature)]),
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
