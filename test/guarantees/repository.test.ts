import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, posix } from 'node:path';
import { filesBelow, importsOf, read, root, sourceFiles } from '../support/source.js';

const topLevel =
  /^(package\.json|package-lock\.json|tsconfig[^/]*\.json|\.oxlintrc\.json|\.prettierrc\.json|\.prettierignore|\.git-blame-ignore-revs|\.npmrc|\.mocharc\.[a-z]+|\.gitignore|\.dockerignore|\.editorconfig|README\.md|CHANGELOG\.md|CONTRIBUTING\.md|SECURITY\.md|LICENSE|server|cli|data-plane-agent|helm|docker|test|docs|\.ci)$/;
const notKept = new Set(['.git', 'node_modules', 'dist', 'dist-test', 'coverage', 'data', '.env']);
const entries = ['server/main.ts', 'cli/main.ts', 'data-plane-agent/agent/main.ts'];

/** Complete and tested, but not yet used by any process: the agent's link. Remove entries when they are used. */
const aheadOfTheirProcess = ['data-plane-agent/plane/remote.ts'];

/** Loaded by mocha, or by processes that tests start. */
const FIRST_LOADED: ReadonlySet<string> = new Set(
  ['each-file', 'programs', 'moved-clock', 'receipt-program', 'rival-program'].map((name) => `test/support/${name}.ts`),
);

describe('the repository', () => {
  const {
    dependencies = {},
    devDependencies = {},
    optionalDependencies = {},
  } = JSON.parse(read('package.json')) as Partial<
    Record<'dependencies' | 'devDependencies' | 'optionalDependencies', Record<string, string>>
  >;

  it('has only expected files and folders in its root', () => {
    expect(atTop().filter((name) => !topLevel.test(name))).to.deep.equal([]);
  });

  it('has no empty folder in its root', () => {
    const folders = readdirSync(root, { withFileTypes: true }).filter(
      (entry) => entry.isDirectory() && !notKept.has(entry.name),
    );
    expect(
      folders.filter(({ name }) => filesBelow(join(root, name)).length === 0).map(({ name }) => name),
    ).to.deep.equal([]);
  });

  it('has no product file that no process imports', () => {
    const reached = reachedFrom([...entries, ...aheadOfTheirProcess]);
    expect(sourceFiles().filter((file) => !file.startsWith('test/') && !reached.has(file))).to.deep.equal([]);
  });

  it('has no test helper that no test imports', () => {
    const reached = reachedFrom(
      sourceFiles().filter(
        (file) => file.endsWith('.test.ts') || file === 'test/bench/run.ts' || FIRST_LOADED.has(file),
      ),
    );
    expect(sourceFiles().filter((file) => file.startsWith('test/') && !reached.has(file))).to.deep.equal([]);
  });

  it('has no source file of more than 420 lines, and no test of more than 800', () => {
    expect(
      sourceFiles()
        .map((file) => `${file}: ${read(file).split('\n').length - 1}`)
        .filter((line) => Number(line.split(': ')[1]) > (line.startsWith('test/') ? 800 : 420)),
    ).to.deep.equal([]);
  });

  it('links every page in its README, and every decision in the list of decisions', () => {
    const linked = new Set(['README.md', 'docs/decisions/README.md'].flatMap(linksOf));
    expect(pages().filter((page) => page.startsWith('docs/') && !linked.has(page))).to.deep.equal([]);
  });

  it('has no marks of a merge in its pages', () => {
    const marked = pages().filter((page) => /^(<{7}|={7}|>{7})( |$)/m.test(readFileSync(join(root, page), 'utf8')));
    expect(marked).to.deep.equal([]);
  });

  it('has no broken link in its pages', () => {
    const lost = pages().flatMap((page) =>
      linksOf(page)
        .filter((target) => !existsSync(join(root, target)))
        .map((target) => `${page} -> ${target}`),
    );
    expect(lost).to.deep.equal([]);
  });

  it('names only files in its CONTRIBUTING that exist', () => {
    const named = [...read('CONTRIBUTING.md').matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|json|md|mjs))`/g)]
      .map(([, path = '']) => path)
      // As the page says, these stand for folders of the data plane's package.
      .map((path) => (/^(?:plane|host)\//.test(path) ? `data-plane-agent/${path}` : path));
    expect(named).to.include('cli/doctor/examine.ts').and.to.include('data-plane-agent/plane/store/store.ts');
    expect(named.filter((path) => !existsSync(join(root, path)))).to.deep.equal([]);
  });

  it('explains every dependency, and no other package', () => {
    const explained = read('docs/decisions/0002-libraries.md')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
    expect(explained.toSorted()).to.deep.equal(
      Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }).toSorted(),
    );
  });

  it('imports in product code only runtime dependencies', () => {
    const builtin = new Set(builtinModules);
    const foreign = sourceFiles()
      .filter((file) => !file.startsWith('test/'))
      .flatMap((file) =>
        importsOf(file, read(file))
          .filter(
            (target) =>
              !target.startsWith('node:') &&
              !builtin.has(target) &&
              !target.endsWith('.ts') &&
              !target.endsWith('.json'),
          )
          .filter((target) => dependencies[packageOf(target)] === undefined && !onlyTypes(file, target))
          .map((target) => `${file} -> ${target}`),
      );
    expect(foreign).to.deep.equal([]);
  });

  it('locks the packages of all platforms', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { optionalDependencies?: Record<string, string> }>;
    };
    const locked = new Set(
      Object.keys(packages).map((path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)),
    );
    const missing = Object.values(packages)
      .flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
      .filter((name) => !locked.has(name));
    expect(missing).to.deep.equal([]);
  });

  it('names no registry in its lock file, and a checksum for every package', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { resolved?: string; integrity?: string; link?: boolean }>;
    };
    const installed = Object.entries(packages).filter(([path]) => path !== '');
    expect(installed.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).to.deep.equal([]);
    expect(installed.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path)).to.deep.equal([]);
  });
});

const pages = (): string[] => [
  ...atTop().filter((name) => name.endsWith('.md')),
  ...filesBelow(join(root, 'docs')).filter((file) => file.endsWith('.md')),
];

/** The files of the repository that a page links to. */
const linksOf = (page: string): string[] =>
  [...read(page).matchAll(/\]\(([^()#:\s]+)(?:#[^()\s]*)?\)/g)].map(([, target = '']) =>
    posix.join(posix.dirname(page), target),
  );

const atTop = (): string[] => readdirSync(root).filter((name) => !notKept.has(name));

/** The files that these import directly or indirectly, also by `new URL('./x.js', import.meta.url)`. */
function reachedFrom(starts: string[]): Set<string> {
  const known = new Set(sourceFiles());
  const reached = new Set<string>();
  const waiting = starts.filter((file) => known.has(file));
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    const text = read(file);
    const byUrl = [...text.matchAll(/new URL\(\s*['"](\.[^'"]+)['"]/g)].map(([, path = '']) =>
      posix.join(posix.dirname(file ?? ''), path).replace(/\.js$/, '.ts'),
    );
    waiting.push(...[...importsOf(file, text), ...byUrl].filter((target) => known.has(target)));
  }
  return reached;
}

const packageOf = (target: string): string =>
  target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');

/** Whether a file imports only types from a package, which is not loaded at run time then. */
const onlyTypes = (file: string, target: string): boolean =>
  read(file)
    .split('\n')
    .filter((line) => line.includes(`'${target}'`))
    .every((line) => line.startsWith('import type '));
