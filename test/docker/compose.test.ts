import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { read, root } from '../support/source.js';

interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string; readonly target: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks?: readonly string[];
  readonly ports?: readonly string[];
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly stop_grace_period?: string;
}
interface Composition {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks?: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly volumes: Readonly<Record<string, { readonly driver_opts?: Readonly<Record<string, string>> }>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

for (const file of ['compose.yaml', 'compose.agent.yaml']) {
  describe(`docker/${file}`, () => {
    const text = read(`docker/${file}`);
    const { services, networks = {}, volumes, secrets } = parse(text) as Composition;
    const all = Object.entries(services);
    const ours = all.filter(([, { image }]) => image.startsWith('duebook-'));

    it('pins every image to a version, and ours to that of the package', () => {
      const { version } = JSON.parse(read('package.json')) as { version: string };
      for (const [name, { image }] of all)
        expect(image, name).to.match(/:(\d+\.\d+(\.\d+)?|RELEASE\.\d{4}-\d\d-\d\dT[\d-]+Z)(-bookworm)?$/);
      for (const [name, { image }] of ours) expect(image, name).to.match(new RegExp(`:${version}$`));
      for (const [name, { build }] of ours)
        if (build) {
          expect(build, name).to.include({ context: '..', dockerfile: 'docker/Dockerfile' });
          expect(read('docker/Dockerfile')).to.contain(` AS ${build.target}\n`);
        }
    });

    it('has no secret and no default of one: they are files, or variables without a default', () => {
      expect(Object.values(secrets).map((secret) => secret.file)).to.deep.equal(
        Object.keys(secrets).map((name) => `./secrets/${name}`),
      );
      for (const [name, { environment = {}, secrets: used = [] }] of all) {
        expect(
          used.filter((one) => !(one in secrets)),
          name,
        ).to.deep.equal([]);
        for (const [variable, value] of Object.entries(environment)) {
          if (variable.endsWith('_FILE')) expect(used, variable).to.include(value.replace('/run/secrets/', ''));
          else if (/PASSWORD|TOKEN|SECRET|KEYS|SMTP_URL|DATABASE_URL/.test(variable))
            expect(value, variable).to.equal(`\${${variable}:-}`);
        }
      }
      const named = new Set(all.flatMap(([, service]) => service.secrets ?? []));
      expect(Object.keys(secrets).filter((name) => !named.has(name))).to.deep.equal([]);
    });

    it('runs our programs with a read-only root, without capabilities and rights to gain, and lets them end in peace', () => {
      expect(ours.length).to.be.greaterThan(0);
      for (const [name, service] of ours) {
        expect(service, name).to.include({ read_only: true });
        expect(service.cap_drop, name).to.deep.equal(['ALL']);
        expect(service.security_opt, name).to.deep.equal(['no-new-privileges:true']);
        if (service.ports) expect(service.stop_grace_period).to.equal('35s');
      }
    });

    it('opens ports on this machine only, and no port of a database or a scanner', () => {
      for (const [name, { ports = [] }] of all) {
        expect(
          ports.filter((port) => !port.startsWith('127.0.0.1:')),
          name,
        ).to.deep.equal([]);
        if (['postgres', 'clamav'].includes(name)) expect(ports, name).to.deep.equal([]);
      }
      for (const [name, service] of all)
        if (name === 'postgres')
          expect((service.networks ?? []).map((one) => networks[one]?.internal)).to.deep.equal([true]);
    });

    it('starts what depends on another after it: databases and stores when they are healthy', () => {
      for (const [name, { depends_on: others = {} }] of all)
        for (const [other, { condition }] of Object.entries(others)) {
          const { healthcheck } = services[other] ?? {};
          expect(healthcheck?.test?.[0], `${name} on ${other}`).to.equal('CMD');
          // clamd needs minutes for its signatures, and is waited for by the files.
          expect(condition).to.equal(other === 'clamav' ? 'service_started' : 'service_healthy');
        }
    });

    it('gives clamd our configuration, and its socket to us alone', () => {
      const { volumes: mounts = [] } = services['clamav'] ?? {};
      expect(mounts).to.include('./clamd.conf:/etc/clamav/clamd.conf:ro');
      const socket = /^LocalSocket (.+)$/m.exec(read('docker/clamd.conf'))?.[1] ?? '';
      for (const [name, { environment = {}, volumes: mounted = [] }] of ours)
        if (name !== 'join') {
          expect(environment['CLAMAV_URL']).to.equal(`unix:${socket}`);
          expect(mounted).to.include('scanner-socket:/run/clamav');
        }
      const [, group] = /^USER \d+:(\d+)$/m.exec(read('docker/Dockerfile')) ?? [];
      expect(volumes['scanner-socket']?.driver_opts?.['o']).to.contain(`gid=${group},mode=2770`);
    });

    it('mounts only files that exist, and volumes that it declares', () => {
      for (const [name, { volumes: mounts = [] }] of all)
        for (const mount of mounts) {
          const [source = ''] = mount.split(':');
          if (source.startsWith('./'))
            expect(existsSync(join(root, 'docker', source)), `${name}: ${source}`).to.equal(true);
          else expect(volumes, name).to.have.property(source);
        }
    });
  });
}
