import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { parse } from 'yaml';
import { CHARTS, needsHelm, render, type Chart, type KubernetesObject } from '../support/helm.js';
import { needsPrograms } from '../support/needs-programs.js';
import { filesBelow, read, root } from '../support/source.js';

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly labels: { readonly severity: string };
      readonly annotations: { readonly summary: string; readonly description: string };
    }[];
  }[];
}
interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly description: string;
    readonly targets: readonly { readonly expr: string }[];
    readonly gridPos: { readonly x: number; readonly y: number };
  }[];
}

const alertsOf = (chart: Chart) =>
  (parse(read(`helm/${chart}/monitoring/alerts.yaml`)) as Rules).groups.flatMap(({ rules }) => rules);
const dashboard = JSON.parse(read('helm/duebook/monitoring/dashboard.json')) as Dashboard;

describe('monitoring', () => {
  it('asks only for metrics that the programs have', async () => {
    const registry = new Registry();
    collectDefaultMetrics({ register: registry });
    const known = new Set(['up', ...(await registry.getMetricsAsJSON()).map(({ name }) => name), ...ownMetrics()]);
    const expressions = [
      ...CHARTS.flatMap(alertsOf).map(({ expr }) => expr),
      ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ];
    const asked = new Set(expressions.flatMap(metricsIn));
    expect(asked.size).to.be.greaterThan(12);
    expect([...asked].filter((name) => !known.has(name))).to.deep.equal([]);
  });

  it('shows every metric of our own that the server has, or alerts on it', () => {
    const asked = new Set([
      ...dashboard.panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsIn(expr))),
      ...CHARTS.flatMap(alertsOf).flatMap(({ expr }) => metricsIn(expr)),
    ]);
    // The same as `duebook_agent_link_connected`, as a number.
    const left = ownMetrics().filter((name) => !asked.has(name) && name !== 'duebook_agent_link_sessions');
    expect(left).to.deep.equal([]);
  });

  it('says with each alert how bad it is and what to do, and with each panel what it shows', () => {
    for (const { alert, labels, annotations } of CHARTS.flatMap(alertsOf)) {
      expect(labels.severity, alert).to.be.oneOf(['critical', 'warning']);
      expect(annotations.description.length, alert).to.be.greaterThan(40);
    }
    for (const { title, description } of dashboard.panels) expect(description, title).not.to.equal('');
    const places = dashboard.panels.map(({ gridPos: { x, y } }) => `${x} ${y}`);
    expect(new Set(places).size).to.equal(dashboard.panels.length);
  });

  it('tests every alert', () => {
    for (const chart of CHARTS)
      for (const { alert } of alertsOf(chart))
        expect(read(`helm/${chart}/monitoring/alerts.test.yaml`), alert).to.contain(`- alertname: ${alert}\n`);
  });

  describe('to promtool', () => {
    needsPrograms('promtool');
    for (const chart of CHARTS)
      it(`the alerts of ${chart} are valid, and fire when they should and not before`, async () => {
        const cwd = join(root, 'helm', chart, 'monitoring');
        await promisify(execFile)('promtool', ['check', 'rules', 'alerts.yaml'], { cwd });
        await promisify(execFile)('promtool', ['test', 'rules', 'alerts.test.yaml'], { cwd });
      });
  });

  describe('in the charts', () => {
    needsHelm();
    const only = (objects: readonly KubernetesObject[], kind: string, suffix = ''): KubernetesObject | undefined =>
      objects.find((object) => object.kind === kind && object.metadata.name.endsWith(suffix));

    it('is made where asked, as in the files', async () => {
      for (const chart of CHARTS) {
        const objects = await render(chart, { set: ['metrics.prometheusRule.enabled=true'] });
        expect(only(objects, 'PrometheusRule')?.spec).to.deep.equal(
          parse(read(`helm/${chart}/monitoring/alerts.yaml`)) as object,
        );
      }
      const shown = only(await render('duebook', { set: ['metrics.dashboard.enabled=true'] }), 'ConfigMap', '-dashboard');
      expect(shown?.metadata.labels).to.include({ grafana_dashboard: '1' });
      expect(JSON.parse(shown?.data?.['duebook.json'] ?? '')).to.deep.equal(dashboard);
    });

    it('is not made by default', async () => {
      for (const chart of CHARTS) {
        const kinds = (await render(chart)).map(({ kind }) => kind);
        expect(kinds).not.to.include.oneOf(['PrometheusRule', 'ServiceMonitor']);
      }
    });
  });
});

/** The names of the metrics in an expression, without the suffixes of histograms. */
const metricsIn = (expression: string): string[] =>
  [...expression.matchAll(/\b(?:up|(?:duebook|nodejs|process)_[a-z0-9_]+)(?=[{[\s)]|$)/g)].map(([name]) =>
    name.replace(/_seconds_(?:bucket|sum|count)$/, '_seconds'),
  );

/** The names of the metrics that our code makes. */
const ownMetrics = (): string[] => [
  ...new Set(
    ['server', 'data-plane-agent']
      .flatMap((folder) => filesBelow(join(root, folder)))
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => [...read(file).matchAll(/'(duebook_[a-z_]+)'/g)].map(([, name = '']) => name)),
  ),
];
