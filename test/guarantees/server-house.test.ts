import { expect } from 'chai';
import { dirname } from 'node:path';
import { importsOf, read, sourceFiles } from '../support/source.js';

describe('the folders of the server', () => {
  it('do not import each other in a cycle, directly or indirectly', () => {
    const files = sourceFiles().filter((file) => file.startsWith('server/'));
    expect(circles(folderImports(files.map((file) => [file, read(file)])))).to.deep.equal([]);
  });

  it('are found if they form a cycle, also an indirect one', () => {
    const imports = folderImports([
      ['server/a/one.ts', `import { x } from '../b/two.js';`],
      ['server/b/two.ts', `import type { y } from './c/three.js';`],
      ['server/b/c/three.ts', `export * from '../../a/one.js';`],
      ['server/main.ts', `const a = await import('./a/one.js');`],
    ]);
    expect(circles(imports)).to.deep.equal([['server/a', 'server/b', 'server/b/c']]);
  });
});

/** The other folders that each folder imports. */
function folderImports(
  files: readonly (readonly [file: string, text: string])[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const imports = new Map<string, Set<string>>();
  for (const [file, text] of files) {
    const folder = dirname(file);
    const others = imports.get(folder) ?? new Set();
    imports.set(folder, others);
    for (const target of importsOf(file, text))
      if (target.startsWith('server/') && dirname(target) !== folder) others.add(dirname(target));
  }
  return imports;
}

/** The folders that reach each other, grouped and sorted by name. */
function circles(imports: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const reached = new Map([...imports.keys()].map((folder) => [folder, reachedFrom(folder, imports)]));
  const found = [...reached.keys()]
    .map((folder) =>
      [...reached.keys()]
        .filter((other) => reached.get(folder)?.has(other) && reached.get(other)?.has(folder))
        .toSorted(),
    )
    .filter((circle) => circle.length > 0);
  return [...new Map(found.map((circle) => [circle.join(), circle])).values()].toSorted((a, b) =>
    a.join().localeCompare(b.join()),
  );
}

function reachedFrom(folder: string, imports: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const seen = new Set<string>();
  const ahead = [...(imports.get(folder) ?? [])];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    ahead.push(...(imports.get(next) ?? []));
  }
  return seen;
}
