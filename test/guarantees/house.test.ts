import { expect } from 'chai';
import { posix } from 'node:path';
import { importsOf, read, sourceFiles } from '../support/source.js';

/** Groups of folders that must not import each other in a cycle, directly or indirectly. */
const GROUPS: readonly { readonly name: string; readonly folders: readonly string[] }[] = [
  {
    name: 'the tables and the rules of the data plane',
    folders: ['data-plane-agent/plane/tables', 'data-plane-agent/plane/domain'],
  },
];

/** The imports between folders, with the importing files. */
type Graph = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;

describe('no folders import each other in a cycle, directly or indirectly', () => {
  for (const { name, folders } of GROUPS) {
    it(`in ${name}`, () => {
      expect(circlesOf(graphOf(folders))).to.deep.equal([]);
    });
  }

  it('the tables import nothing from the rules', () => {
    const tables = sourceFiles().filter((file) => file.startsWith('data-plane-agent/plane/tables/'));
    expect(tables.length).to.be.greaterThan(10);
    expect(
      tables
        .flatMap((file) => importsOf(file, read(file)))
        .filter((target) => target.startsWith('data-plane-agent/plane/domain/')),
    ).to.deep.equal([]);
  });

  it('conversions of instants and of column names are in one place', () => {
    const product = sourceFiles().filter((file) => !file.startsWith('test/'));
    expect(product.filter((file) => read(file).includes('toISOString'))).to.deep.equal([
      'data-plane-agent/base/instants.ts',
    ]);
    // No code derives the content of a column from its name.
    expect(product.filter((file) => /Minor['"$]\)|Minor\$\//.test(read(file)))).to.deep.equal([]);
  });

  it('only objects that are made seldom have getters of their own', () => {
    const product = sourceFiles().filter((file) => !file.startsWith('test/'));
    // Those of classes are indented by two. V8 keeps a hidden class for each object that has a getter of its own, and with
    // it all that the getter uses, until the next full garbage collection: not for objects of a request or an operation.
    expect(product.filter((file) => /^ {4,}get \w+\(\)/m.test(read(file))).toSorted()).to.deep.equal([
      'data-plane-agent/agent/identity.ts',
      'data-plane-agent/agent/link/connection-state.ts',
      'data-plane-agent/agent/link/outbound.ts',
      'data-plane-agent/agent/operation-log.ts',
      'data-plane-agent/base/lifecycle.ts',
      'data-plane-agent/base/link/create-session.ts',
      'data-plane-agent/base/link/heartbeat.ts',
      'data-plane-agent/base/link/requesting.ts',
      'data-plane-agent/base/link/serving.ts',
      'data-plane-agent/base/link/web-socket.ts',
      'data-plane-agent/host/backup/index-check.ts',
      'data-plane-agent/host/long-work/long-work.ts',
      'server/data-planes/link/agent-keys.ts',
      'server/data-planes/link/local-sessions.ts',
      'server/data-planes/moving/journal.ts',
      'server/http/turns.ts',
    ]);
  });

  it('finds a cycle, with the files that close it', () => {
    const edges: Graph = new Map([
      ['a', new Map([['b', ['a/1.ts -> b/1.ts']]])],
      [
        'b',
        new Map([
          ['c', ['b/1.ts -> c/1.ts']],
          ['d', ['b/1.ts -> d/1.ts']],
        ]),
      ],
      ['c', new Map([['a', ['c/1.ts -> a/1.ts']]])],
    ]);
    expect(circlesOf(edges)).to.deep.equal(['a, b, c: a/1.ts -> b/1.ts; b/1.ts -> c/1.ts; c/1.ts -> a/1.ts']);
  });
});

function graphOf(folders: readonly string[]): Graph {
  const within = (file: string) => folders.some((folder) => file.startsWith(`${folder}/`));
  const graph = new Map<string, Map<string, string[]>>();
  for (const file of sourceFiles().filter(within)) {
    for (const target of importsOf(file, read(file)).filter(within)) {
      const [from, to] = [posix.dirname(file), posix.dirname(target)];
      if (from === to) continue;
      const imports = graph.get(from) ?? new Map<string, string[]>();
      graph.set(from, imports);
      imports.set(to, [...(imports.get(to) ?? []), `${file} -> ${target}`]);
    }
  }
  return graph;
}

/** The sets of folders that all reach each other. */
function circlesOf(graph: Graph): string[] {
  const reached = new Map([...graph.keys()].map((folder) => [folder, reachedFrom(folder, graph)]));
  const sets = [...graph.keys()].map((folder) =>
    [...graph.keys()].filter((other) => reached.get(folder)?.has(other) && reached.get(other)?.has(folder)).toSorted(),
  );
  const named = new Map(sets.filter((set) => set.length > 0).map((set) => [set.join(', '), set]));
  return [...named].map(
    ([name, set]) =>
      `${name}: ${set.flatMap((from) => [...(graph.get(from) ?? [])].filter(([to]) => set.includes(to)).flatMap(([, files]) => files)).join('; ')}`,
  );
}

function reachedFrom(folder: string, graph: Graph): ReadonlySet<string> {
  const reached = new Set<string>();
  const ahead = [folder];
  for (let at = ahead.pop(); at !== undefined; at = ahead.pop()) {
    for (const next of graph.get(at)?.keys() ?? []) {
      if (reached.has(next)) continue;
      reached.add(next);
      ahead.push(next);
    }
  }
  return reached;
}
