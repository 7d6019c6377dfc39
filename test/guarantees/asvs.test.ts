import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { speak } from '../support/http.js';
import { startServer, type TestServer } from '../support/server.js';
import { filesBelow, read, root } from '../support/source.js';

const PAGE = 'docs/security/asvs.md';

/**
 * The levels of the requirements of OWASP ASVS 5.0.0: by chapter, a text for each section and a digit for each
 * requirement. Taken from the standard's own list: 70 of level 1, 183 of level 2, 92 of level 3.
 */
const LEVELS: Readonly<Record<number, readonly string[]>> = {
  1: ['22', '1111122223', '112222222223', '222', '123'],
  2: ['122', '112', '12223', '23'],
  3: ['3', '113', '12223', '11222233', '11122333', '3', '22333'],
  4: ['12233', '23333', '22', '1222'],
  5: ['2', '112333', '113', '222'],
  6: ['122', '111111112222', '11223333', '112233', '22222333', '2223', '33', '2222'],
  7: ['222', '1111', '22', '11222', '223', '22'],
  8: ['1233', '1123', '133', '23'],
  9: ['111', '1222'],
  10: ['22', '223', '22223', '1111122222233333', '22222', '22', '222'],
  11: ['2233', '22233', '11233', '1222', '23', '23', '33'],
  12: ['12233', '11', '22223'],
  13: ['2333', '222223', '2233', '1222233'],
  14: ['22', '12223333', '122'],
  15: ['12233', '12233', '1222222', '3333'],
  16: ['2', '22222', '2222', '222', '2223'],
  17: ['23', '22223333', '22'],
};
const STATES = ['met', 'partly', 'gap', 'not applicable'];

interface Row {
  readonly line: string;
  /** Expands ranges such as `4.3.1 to 4.3.2`. */
  readonly numbers: readonly string[];
  readonly level: string;
  readonly metBy: string;
  readonly provedBy: string;
  readonly state: string;
}

const page = read(PAGE);
const [requirements = '', gaps = ''] = page.split('\n## Gaps\n');
const rows = requirements
  .split('\n')
  .filter((line) => line.startsWith('| v5.0.0-'))
  .map(rowOf);
const levelOf: ReadonlyMap<string, string> = new Map(
  Object.entries(LEVELS).flatMap(([chapter, sections]) =>
    sections.flatMap((levels, section) =>
      [...levels].map((level, index) => [`${chapter}.${section + 1}.${index + 1}`, level] as const),
    ),
  ),
);
const asked = [...levelOf].filter(([, level]) => level !== '3').map(([number]) => number);

describe('the page on OWASP ASVS 5.0', () => {
  it('has the number of requirements of the standard', () => {
    expect(['1', '2', '3'].map((level) => [...levelOf.values()].filter((one) => one === level).length)).to.deep.equal([
      70, 183, 92,
    ]);
  });

  it('lists every requirement of levels 1 and 2 once, and no other', () => {
    const reported = rows.flatMap(({ numbers }) => numbers);
    expect(
      reported.filter((number, index) => reported.indexOf(number) !== index),
      'twice',
    ).to.deep.equal([]);
    expect(
      asked.filter((number) => !reported.includes(number)),
      'missing',
    ).to.deep.equal([]);
    expect(
      reported.filter((number) => !asked.includes(number)),
      'no requirement of these levels',
    ).to.deep.equal([]);
  });

  it('gives the level and a valid state of each', () => {
    const levels = (numbers: readonly string[]) =>
      [...new Set(numbers.map((number) => levelOf.get(number) ?? ''))].toSorted().join(', ');
    expect(rows.filter(({ numbers, level }) => level !== levels(numbers)).map(({ line }) => line)).to.deep.equal([]);
    expect(rows.filter(({ state }) => !STATES.includes(state)).map(({ line }) => line)).to.deep.equal([]);
  });

  it('names the implementation of each met requirement, and the test that proves it, or that there is none', () => {
    const claimed = rows.filter(({ state }) => state === 'met' || state === 'partly');
    expect(
      claimed.filter(({ metBy }) => pathsIn(metBy).length === 0).map(({ line }) => line),
      'no file',
    ).to.deep.equal([]);
    expect(
      claimed
        .filter(({ provedBy }) => titlesIn(provedBy).length === 0 && !provedBy.startsWith('by reading'))
        .map(({ line }) => line),
      'no test',
    ).to.deep.equal([]);
  });

  it('names existing files', () => {
    expect(
      linesOfAll().flatMap(({ line, where }) =>
        pathsIn(line)
          .filter((path) => !existsSync(join(root, path)))
          .map((path) => `${where} ${path}`),
      ),
    ).to.deep.equal([]);
    const links = linesOfAll().flatMap(({ line, where }) =>
      [...line.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target = '']) => join(where, '..', target)),
    );
    expect(links.filter((path) => !existsSync(join(root, path)))).to.deep.equal([]);
  });

  it('names existing tests by their titles', () => {
    const named = rows.filter(isSettled).flatMap(({ provedBy }) => titlesIn(provedBy));
    expect(
      named
        .filter(({ path, title }) => !existsSync(join(root, path)) || !hasTitle(read(path), title))
        .map(({ path, title }) => `${path}: ${title}`),
    ).to.deep.equal([]);
  });

  it('lists each requirement that is not completely met, and no other, in its gaps, with what is missing', () => {
    const listed = gaps
      .split('\n')
      .filter((line) => line.startsWith('| v5.0.0-'))
      .map((line) => cellsOf(line));
    const lacking = rows.filter(({ state }) => state === 'gap' || state === 'partly').flatMap(({ numbers }) => numbers);
    expect(listed.map(([number = '']) => number.replace('v5.0.0-', ''))).to.deep.equal(lacking);
    expect(listed.filter(([, what = '']) => what.length < 5)).to.deep.equal([]);
  });

  it('has the correct number of requirements per state', () => {
    const counted = STATES.map(
      (state) => `| ${state} | ${rows.filter((row) => row.state === state).flatMap(({ numbers }) => numbers).length} |`,
    );
    expect(requirements.split('\n').filter((line) => /^\| [a-z ]+ \| \d+ \|$/.test(line))).to.deep.equal(counted);
  });

  it('has no pending entries', () => {
    expect(linesOfAll('pending').map(({ line, where }) => `${where}: ${line}`)).to.deep.equal([]);
  });
});

describe("the standard's requirements for headers and pages", () => {
  let server: TestServer;
  before(async () => {
    server = await startServer();
  });
  after(() => server.stop());

  it('answers and pages have HSTS of a year with subdomains, no referrer, no framing by others, no plugins', async () => {
    for (const path of ['/api/v1/health', '/api/v1/nothing', '/reset-password', '/docs']) {
      const { headers } = await server.client.raw(path);
      expect(headers.get('strict-transport-security'), path).to.match(/^max-age=31536000; includeSubDomains/);
      expect(headers.get('referrer-policy'), path).to.equal('no-referrer');
      const policy =
        headers
          .get('content-security-policy')
          ?.split(';')
          .map((directive) => directive.trim()) ?? [];
      expect(
        policy.find((directive) => directive.startsWith('frame-ancestors ')),
        path,
      ).to.be.oneOf(["frame-ancestors 'none'", "frame-ancestors 'self'"]);
      expect(
        policy.some((directive) => directive === "object-src 'none'" || directive === "default-src 'none'"),
        path,
      ).to.equal(true);
    }
  });

  it('TRACE is refused', async () => {
    for (const [path, status] of [
      ['/api/v1/health', 405],
      ['/docs', 405],
      ['/nothing', 404],
    ] as const) {
      expect(await speak(server.url, `TRACE ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`), path).to.match(
        new RegExp(`^HTTP/1.1 ${status} `),
      );
    }
  });

  it('password fields are masked and support password managers', async () => {
    for (const path of ['/accept-invitation', '/reset-password']) {
      const { text } = await server.client.raw(path);
      expect(text, path)
        .to.match(/<input name="password" type="password" autocomplete="new-password"/)
        .and.not.to.match(/onpaste|autocomplete="off"/);
    }
  });
});

describe('the bill of materials', function () {
  this.timeout(180_000); // runs npm

  it('has every package of the lock file, with a checksum', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Readonly<Record<string, { readonly version: string }>>;
    };
    const locked = Object.entries(packages)
      .filter(([path]) => path !== '')
      .map(
        ([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${version}`,
      );
    const text = execFileSync('npm', ['run', '--silent', 'sbom'], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const { bomFormat, components } = JSON.parse(text) as {
      bomFormat: string;
      components: readonly { readonly name: string; readonly version: string; readonly hashes?: readonly object[] }[];
    };
    expect(bomFormat).to.equal('CycloneDX');
    expect([...new Set(components.map(({ name, version }) => `${name}@${version}`))].toSorted()).to.deep.equal(
      [...new Set(locked)].toSorted(),
    );
    expect(components.filter(({ hashes = [] }) => hashes.length === 0).map(({ name }) => name)).to.deep.equal([]);
  });
});

function cellsOf(line: string): string[] {
  return line
    .slice(1, line.lastIndexOf('|'))
    .split(' | ')
    .map((cell) => cell.trim());
}

function rowOf(line: string): Row {
  const [number = '', level = '', , metBy = '', provedBy = '', state = '', ...more] = cellsOf(line);
  const [, section = '', first = '', , last = first] =
    /^v5\.0\.0-(\d+\.\d+)\.(\d+)( to \1\.(\d+))?$/.exec(number) ?? [];
  if (section === '' || more.length > 0) throw new Error(`not a row of a requirement: ${line}`);
  const numbers = Array.from(
    { length: Number(last) - Number(first) + 1 },
    (_, index) => `${section}.${Number(first) + index}`,
  );
  return { line, numbers, level, metBy, provedBy, state };
}

/** Pending lines are not checked until they are settled. */
const PENDING = '(pending';
const isSettled = ({ line }: { readonly line: string }): boolean => !line.includes(PENDING);

/** The lines of all security pages with their page: either the settled or the pending ones. */
const linesOfAll = (which: 'settled' | 'pending' = 'settled'): { line: string; where: string }[] =>
  [...filesBelow(join(root, 'docs', 'security')), 'SECURITY.md']
    .flatMap((where) =>
      read(where)
        .split('\n')
        .map((line) => ({ line, where })),
    )
    .filter((one) => isSettled(one) === (which === 'settled'));

/** File names in backticks: those that begin with a folder of the repository, and documents in its root. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/`([^`\s]+)`/g)]
    .map(([, path = '']) => path)
    .filter((path) =>
      /^(server|cli|data-plane-agent|test|docs|docker|\.ci)\/[\w./-]+$|^[\w-]+\.(md|json)$|^\.(oxlintrc\.json|npmrc)$/.test(
        path,
      ),
    );

/** The test titles in a cell, each with the file named before it. */
function titlesIn(cell: string): { path: string; title: string }[] {
  return cell.split(/(?=`test\/)/).flatMap((part) => {
    const path = /^`(test\/[^`]+)`/.exec(part)?.[1];
    return path === undefined ? [] : [...part.matchAll(/"([^"]+)"/g)].map(([, title = '']) => ({ path, title }));
  });
}

/** A title as it is written in the source, in any kind of quotes; for generated titles the template. */
function hasTitle(source: string, title: string): boolean {
  const plain = source.replaceAll("\\'", "'");
  return ["'", '`', '"'].some((quote) => plain.includes(`(${quote}${title}${quote}`));
}
