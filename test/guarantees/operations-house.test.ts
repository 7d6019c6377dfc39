import { expect } from 'chai';
import { basename, dirname } from 'node:path';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import { importsOf, read, sourceFiles } from '../support/source.js';

const VERBS = 'data-plane-agent/plane/operations/';
const STEPS = 'data-plane-agent/plane/steps/';

/** Operations are in the folder of their subject; the files beside those folders are the list. */
const isVerb = (file: string): boolean => file.startsWith(VERBS) && dirname(file) !== VERBS.slice(0, -1);

/** `get-contract.ts` has `getContract`. */
const nameOf = (file: string): string =>
  basename(file, '.ts').replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

const files = sourceFiles().filter((file) => file.startsWith(VERBS) || file.startsWith(STEPS));
const verbs = files.filter(isVerb);

describe('the folders of the operations', () => {
  it('have in each file of operations/<subject>/ exactly one listed operation, with the name of the file', () => {
    const list = read(`${VERBS}index.ts`);
    const names = verbs.map((file) => {
      const exported = [
        ...read(file).matchAll(/^export (?:const (\w+) = (?:operation|multiStepOperation|stepwiseOperation)\(\{$)?/gm),
      ].map(([, name]) => name);
      expect(exported, `${file} exports one operation and nothing else`).to.deep.equal([nameOf(file)]);
      expect(list).to.contain(
        `import { ${nameOf(file)} } from './${file.slice(VERBS.length).replace(/\.ts$/, '.js')}';\n`,
      );
      return nameOf(file);
    });
    expect(names.toSorted()).to.deep.equal(Object.keys(OPERATIONS).toSorted());
  });

  it('have no operation that imports another one or the list', () => {
    const faults = verbs.flatMap((file) =>
      importsOf(file, read(file))
        .filter((target) => target.startsWith(VERBS))
        .map((target) => `${file} -> ${target}`),
    );
    expect(faults).to.deep.equal([]);
  });

  it('have no step that imports an operation', () => {
    const faults = files
      .filter((file) => file.startsWith(STEPS))
      .flatMap((file) =>
        importsOf(file, read(file))
          .filter((target) => target.startsWith(VERBS))
          .map((target) => `${file} -> ${target}`),
      );
    expect(faults).to.deep.equal([]);
  });

  it('do not import each other in a cycle, directly or indirectly', () => {
    expect(circlesOf(foldersOf(files.map((file) => [file, importsOf(file, read(file))])))).to.deep.equal([]);
  });

  it('checks find cycles of two and of more folders', () => {
    const imports = (pairs: Readonly<Record<string, readonly string[]>>) => circlesOf(foldersOf(Object.entries(pairs)));
    expect(imports({ 'a/x.ts': ['b/y.ts'], 'b/z.ts': ['a/x.ts'] })).to.deep.equal([['a', 'b']]);
    expect(
      imports({ 'a/x.ts': ['b/y.ts'], 'b/y.ts': ['c/z.ts'], 'c/z.ts': ['a/w.ts'], 'd/v.ts': ['a/x.ts'] }),
    ).to.deep.equal([['a', 'b', 'c']]);
    expect(imports({ 'a/x.ts': ['b/y.ts', 'a/z.ts'], 'b/y.ts': ['c/z.ts'] })).to.deep.equal([]);
  });
});

/** The folders that each folder imports from. */
function foldersOf(
  imports: readonly (readonly [file: string, targets: readonly string[]])[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const folders = new Map<string, Set<string>>();
  for (const [file, targets] of imports) {
    const folder = dirname(file);
    const others = folders.get(folder) ?? new Set();
    for (const target of targets) if (dirname(target) !== folder) others.add(dirname(target));
    folders.set(folder, others);
  }
  return folders;
}

/** The folders that reach themselves, grouped by cycle. */
function circlesOf(folders: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const reachOf = new Map([...folders.keys()].map((folder) => [folder, reachable(folder, folders)]));
  const circles = new Map<string, string[]>();
  for (const [folder, reach] of reachOf) {
    if (!reach.has(folder)) continue;
    const circle = [...reach].filter((other) => reachOf.get(other)?.has(folder)).toSorted();
    circles.set(circle.join(' '), circle);
  }
  return [...circles.values()];
}

function reachable(from: string, folders: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [...(folders.get(from) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    open.push(...(folders.get(next) ?? []));
  }
  return reached;
}
