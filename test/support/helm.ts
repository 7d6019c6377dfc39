import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { root } from './source.js';
import { skip } from './skip.js';

export const CHARTS = ['duebook', 'duebook-agent'] as const;
export type Chart = (typeof CHARTS)[number];

/** The values files that are shipped with the charts, and rendered by the tests. */
export const VALUES_FILES: readonly (readonly [Chart, string])[] = [
  ['duebook', 'minimal'],
  ['duebook', 'postgres-s3'],
  ['duebook', 'replicas'],
  ['duebook', 'air-gapped'],
  ['duebook-agent', 'outbound'],
  ['duebook-agent', 'direct'],
];

/** The oldest version that the charts support; a helm that was compiled from source assumes an older one. */
const KUBERNETES = '1.30.0';

/** An object as Kubernetes gets it. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string>>;
}

/** To be called in a `describe` that renders charts: skips its tests where helm is neither on the PATH nor built. */
export function needsHelm(): void {
  before('helm is installed', function () {
    if (helm() === undefined) skip(this, 'helm is neither on the PATH nor in the cache of .ci/cluster');
  });
}

/** Runs helm. Throws with its messages if it fails. */
export async function runHelm(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(helm() ?? 'helm', args, { cwd: root, maxBuffer: 32 * 1024 * 1024 });
  return stdout;
}

/** The objects that a chart renders with a values file of its `ci/`, and with further values (`a.b=c`). */
export async function render(
  chart: Chart,
  {
    file = VALUES_FILES.find(([of]) => of === chart)?.[1] ?? '',
    set = [],
    args = [],
  }: { readonly file?: string; readonly set?: readonly string[]; readonly args?: readonly string[] } = {},
): Promise<readonly KubernetesObject[]> {
  const text = await runHelm(
    'template',
    'book',
    '--kube-version',
    KUBERNETES,
    `helm/${chart}`,
    '--namespace',
    'shop',
    '--values',
    `helm/${chart}/ci/${file}.yaml`,
    ...set.flatMap((one) => ['--set', one]),
    ...args,
  );
  return parseAllDocuments(text)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null);
}

/** Why helm refuses to render a chart with these further values. Throws if it does not. */
export async function refusal(
  chart: Chart,
  options: { readonly file?: string; readonly set?: readonly string[] },
): Promise<string> {
  const outcome = await render(chart, options).then(
    (objects) => `rendered ${objects.length} objects`,
    (error: unknown) => error,
  );
  if (typeof outcome === 'string') throw new Error(`not refused: ${outcome}`);
  return String((outcome as { readonly stderr?: unknown }).stderr);
}

function helm(): string | undefined {
  const cache = process.env['DUEBOOK_CACHE'] ?? join(homedir(), '.cache', 'duebook');
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), join(cache, 'cluster', 'tools')];
  return folders.map((folder) => join(folder, 'helm')).find((path) => existsSync(path));
}
