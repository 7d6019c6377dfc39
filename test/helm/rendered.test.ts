import { expect } from 'chai';
import { CHARTS, needsHelm, refusal, render, runHelm, VALUES_FILES, type Chart, type KubernetesObject } from '../support/helm.js';
import { read } from '../support/source.js';

interface Container {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy: string;
  readonly command: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly envFrom?: readonly object[];
  readonly resources: { readonly requests?: object; readonly limits?: object };
  readonly securityContext: unknown;
  readonly livenessProbe?: { readonly httpGet: { readonly path: string; readonly scheme?: string } };
  readonly readinessProbe?: { readonly httpGet: { readonly path: string } };
}
interface Pod {
  readonly automountServiceAccountToken: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly Readonly<Record<string, unknown>>[];
}

describe('the charts, rendered', () => {
  needsHelm();

  for (const [chart, file] of VALUES_FILES) {
    describe(`${chart} with ${file}.yaml`, () => {
      let objects: readonly KubernetesObject[];
      before(async () => {
        objects = await render(chart, { file });
      });

      it('passes the linter of helm', async () => {
        await runHelm('lint', '--strict', `helm/${chart}`, '--values', `helm/${chart}/ci/${file}.yaml`);
      });

      it('runs every pod without rights: not as root, read-only, without capabilities and without a token', () => {
        expect(podsOf(objects).length).to.be.greaterThan(1);
        for (const pod of podsOf(objects)) {
          expect(pod.automountServiceAccountToken).to.equal(false);
          expect(pod.securityContext).to.deep.include({
            runAsNonRoot: true, runAsUser: 10_001, runAsGroup: 10_001, fsGroup: 10_001,
            fsGroupChangePolicy: 'OnRootMismatch', seccompProfile: { type: 'RuntimeDefault' },
          });
          for (const { securityContext, resources, command } of containersOf(pod)) {
            expect(securityContext).to.deep.equal({
              allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] },
            });
            expect(resources).to.have.all.keys('requests', 'limits');
            expect(command[0]).to.be.oneOf(['duebook-server', 'duebook-agent', 'duebook', 'node']);
          }
        }
      });

      it('renders no secret, no password, and no image without a version', () => {
        expect(objects.map(({ kind }) => kind)).not.to.include('Secret');
        for (const container of podsOf(objects).flatMap(containersOf)) {
          expect(container.image).to.match(/:\d+\.\d+\.\d+$|@sha256:[0-9a-f]{64}$/);
          for (const { name, value } of container.env ?? [])
            if (/(KEYS?|PASSWORD|TOKEN|SMTP_URL|(?<!PUBLIC)_STORE_URL|DATABASE_URL)$/.test(name) && value !== undefined)
              expect(value, name).to.match(/^(sqlite:|file:)/);
        }
      });

      it('names and labels every object after the release', () => {
        for (const { kind, metadata } of objects) {
          expect(metadata.name, kind).to.match(/^book-duebook/);
          expect(metadata.labels, kind).to.include({ 'app.kubernetes.io/instance': 'book', 'app.kubernetes.io/name': chart });
        }
      });

      it('asks the program itself whether it lives and is ready, and lets it end in peace', () => {
        const [pod] = podsOf(objects.filter(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind)));
        const [{ livenessProbe, readinessProbe } = {} as Container] = pod?.containers ?? [];
        expect([livenessProbe?.httpGet.path, readinessProbe?.httpGet.path]).to.deep.equal(['/livez', '/readyz']);
        expect(pod?.terminationGracePeriodSeconds).to.be.greaterThan(30);
      });

      it('limits the network, and has a test', () => {
        expect(one(objects, 'NetworkPolicy').spec['policyTypes']).to.deep.equal(['Ingress', 'Egress']);
        expect(objects.some(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'test')).to.equal(true);
      });
    });
  }

  for (const chart of CHARTS) {
    describe(chart, () => {
      it('refuses values that it does not know, and values of a wrong kind', async () => {
        for (const [set, said] of [
          ['persistance.enabled=false', 'persistance'],
          ['image.repo=x', 'repo'],
          ['settings.LOG_LEVLE=debug', 'LOG_LEVLE'],
          ['settings.SECRET_KEYS=k1:x', 'SECRET_KEYS'],
          ['metrics.serviceMonitor.enable=true', 'enable'],
          ['image.tag=latest', 'tag'],
          ['persistence.size=much', 'size'],
          ['publicUrl=book.example.com', 'publicUrl'],
          ['security.runAsUser=0', 'runAsUser'],
          ['extraEnv[0].nme=A', 'nme'],
        ] as const)
          expect(await refusal(chart, { set: [set] }), set).to.contain(said);
      });

      it('refuses to be installed without a Secret of the operator, and says how to make one', async () => {
        expect(await refusal(chart, { set: ['existingSecret='] })).to.contain('kubectl create secret generic');
        expect(await refusal(chart, { set: ['scanner.mode=clamav', 'scanner.url='] })).to.contain('scanner.mode=off');
      });

      it('takes image, digest, pull policy and variables from values', async () => {
        const set = ['image.repository=r.test/x', 'image.tag=9.9.9', 'image.pullPolicy=Never', 'extraEnv[0].name=A', 'extraEnv[0].value=b'];
        for (const pod of podsOf(await render(chart, { set })))
          for (const { image, imagePullPolicy } of containersOf(pod))
            expect([image, imagePullPolicy]).to.deep.equal(['r.test/x:9.9.9', 'Never']);
        const [pod] = podsOf(await render(chart, { set }));
        expect(pod?.containers[0]?.env?.at(-1)).to.deep.equal({ name: 'A', value: 'b' });
      });

      it('runs nothing but a wait with maintenance=true', async () => {
        const objects = await render(chart, { set: ['maintenance=true'] });
        const [pod] = podsOf(objects.filter(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind)));
        expect(pod?.containers.map(({ command, livenessProbe }) => [command[0], livenessProbe])).to.deep.equal([['node', undefined]]);
        expect(pod?.initContainers).to.equal(undefined);
        expect(objects.map(({ kind }) => kind)).not.to.include('Job');
      });

      it('lets the cluster choose the user with null', async () => {
        const set = ['security.runAsUser=null', 'security.runAsGroup=null', 'security.fsGroup=null'];
        for (const { securityContext } of podsOf(await render(chart, { set })))
          expect(securityContext).to.deep.equal({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      });

      it('makes an Ingress, a route or a ServiceMonitor for the host of publicUrl where asked', async () => {
        const set = ['ingress.enabled=true', 'gateway.enabled=true', 'gateway.parentRefs[0].name=main', 'metrics.serviceMonitor.enabled=true'];
        const objects = await render(chart, { set: [...set, 'publicUrl=https://a.example.com:8443'] });
        expect((one(objects, 'Ingress').spec['rules'] as { host: string }[])[0]?.host).to.equal('a.example.com');
        expect(one(objects, 'HTTPRoute').spec['hostnames']).to.deep.equal(['a.example.com']);
        expect(JSON.stringify(one(objects, 'ServiceMonitor').spec)).to.contain('METRICS_TOKEN');
      });
    });
  }

  describe('the server', () => {
    const strategy = async (set: readonly string[], file = 'minimal') =>
      (one(await render('duebook', { set, file }), 'Deployment').spec['strategy'] as { type: string }).type;

    it('has one pod at a time with SQLite or a volume of one node, and is rolled otherwise', async () => {
      expect(await strategy([])).to.equal('Recreate');
      expect(await strategy(['database.type=postgres'])).to.equal('Recreate');
      expect(await strategy(['database.type=postgres', 'persistence.accessModes={ReadWriteMany}'])).to.equal('RollingUpdate');
      expect(await strategy([], 'postgres-s3')).to.equal('RollingUpdate');
    });

    it('goes on answering in a pod that ends until proxies know it, and then has the time to complete what runs', async () => {
      for (const [chart, file] of VALUES_FILES.filter(([one]) => one === 'duebook')) {
        const [pod] = podsOf((await render(chart, { file })).filter(({ kind }) => kind === 'Deployment'));
        const { terminationGracePeriodSeconds = 0, containers = [] } = pod ?? {};
        const [container] = containers;
        expect(container).not.to.have.property('lifecycle'); // before SIGTERM the server does not know that it ends
        const seconds = Number((await variables(chart, file)).get('DRAIN_SECONDS'));
        expect(seconds, file).to.be.at.least(5);
        expect(terminationGracePeriodSeconds, file).to.be.greaterThan(seconds + 25);
      }
      expect((await variables('duebook', 'replicas', ['settings.DRAIN_SECONDS=12'])).get('DRAIN_SECONDS')).to.equal('12');
    });

    it('refuses several replicas over SQLite or a volume of one node, and databases without a volume', async () => {
      const said = (...set: string[]): Promise<string> => refusal('duebook', { set });
      expect(await said('replicas=2')).to.contain('database.type=postgres');
      expect(await said('autoscaling.enabled=true')).to.contain('database.type=postgres');
      expect(await said('replicas=2', 'database.type=postgres')).to.contain('ReadWriteMany');
      expect(await said('persistence.enabled=false')).to.contain('lose all data');
      expect(await said('persistence.enabled=false', 'database.type=postgres')).to.contain('objectStore.type=s3');
    });

    it('limits how many replicas are down, and follows the load, where there are several', async () => {
      const kinds = (await render('duebook', { file: 'replicas' })).map(({ kind }) => kind);
      expect(kinds).to.include.members(['PodDisruptionBudget', 'HorizontalPodAutoscaler']);
      const single = (await render('duebook')).map(({ kind }) => kind);
      expect(single).not.to.include.oneOf(['PodDisruptionBudget', 'HorizontalPodAutoscaler']);
    });

    it('migrates before an upgrade, with the settings and the volume of the server', async () => {
      const objects = await render('duebook');
      const job = one(objects, 'Job');
      expect(job.metadata.annotations).to.include({ 'helm.sh/hook': 'pre-upgrade' });
      const [ofJob] = podsOf([job]);
      const [ofServer] = podsOf([one(objects, 'Deployment')]);
      expect(ofJob?.containers[0]?.command).to.deep.equal(['duebook', 'migrate']);
      for (const key of ['env', 'envFrom'] as const)
        expect(ofJob?.containers[0]?.[key]).to.deep.equal(ofServer?.containers[0]?.[key]);
      expect(ofJob?.volumes).to.deep.equal(ofServer?.volumes);
    });

    it('takes URLs of databases and stores from Secrets, and other settings by their names', async () => {
      const env = await variables('duebook', 'postgres-s3');
      expect(env.get('PLATFORM_DATABASE_URL')).to.deep.equal({ secretKeyRef: { name: 'duebook-database', key: 'platform' } });
      expect(env.get('TENANT_DATABASE_URL')).to.deep.equal({ secretKeyRef: { name: 'duebook-database', key: 'contracts' } });
      expect(env.get('OBJECT_STORE_URL')).to.deep.equal({ secretKeyRef: { name: 'duebook-files', key: 'url' } });
      expect([...env]).to.deep.include.members([
        ['FILE_MAX_BYTES', '52428800'], ['TRUST_PROXY', '1'], ['PUBLIC_REGISTRATION_ENABLED', 'false'],
      ]);
    });

    it('has one process in a pod unless settings say how many', async () => {
      expect((await variables('duebook', 'postgres-s3')).get('WORKERS')).to.equal('1');
      expect((await variables('duebook', 'postgres-s3', ['settings.WORKERS=3'])).get('WORKERS')).to.equal('3');
    });

    it('needs no database of contracts and no store with agents, and tells replicas where it is', async () => {
      const env = await variables('duebook', 'replicas');
      expect(env.get('PEER_URL')).to.equal('http://$(POD_IP):8080');
      expect([env.has('TENANT_DATABASE_URL'), env.has('OBJECT_STORE_URL')]).to.deep.equal([false, false]);
    });

    it('keeps its volume when it is uninstalled', async () => {
      const { metadata } = one(await render('duebook'), 'PersistentVolumeClaim');
      expect(metadata.annotations).to.include({ 'helm.sh/resource-policy': 'keep' });
    });
  });

  describe('the agent', () => {
    it('is one pod, which joins at its first start only', async () => {
      const objects = await render('duebook-agent');
      const set = one(objects, 'StatefulSet');
      expect(set.spec['replicas']).to.equal(1);
      const [pod] = podsOf([set]);
      expect(pod?.initContainers?.[0]?.command).to.deep.equal([
        'duebook-agent', 'join', '--unless-joined', '--control-plane', 'https://duebook.example.com', '--token-file', '/join/token',
      ]);
      const token = pod?.volumes?.find(({ name }) => name === 'join');
      expect(token?.['secret']).to.deep.include({ optional: true, secretName: 'duebook-agent-join' });
    });

    it('gets its policy as a file, and starts again when it changes', async () => {
      const before = await render('duebook-agent');
      const policy = JSON.parse(one(before, 'ConfigMap').data?.['policy.json'] ?? '') as object;
      expect(policy).to.deep.equal({ readOnly: false, export: false, deny: ['bulkDeleteContracts'] });
      expect((await variables('duebook-agent', 'outbound')).get('POLICY_FILE')).to.equal('/policy/policy.json');
      const mark = (objects: readonly KubernetesObject[]): unknown =>
        (one(objects, 'StatefulSet').spec['template'] as KubernetesObject).metadata.annotations?.['duebook/policy'];
      expect(mark(await render('duebook-agent', { set: ['policy.readOnly=true'] }))).not.to.equal(mark(before));
      const none = await render('duebook-agent', { set: ['policy.export=true', 'policy.deny=null'] });
      expect(none.map(({ kind }) => kind)).not.to.include('ConfigMap');
    });

    it('serves https with a certificate of the operator, and is asked over https then', async () => {
      const [pod] = podsOf([one(await render('duebook-agent', { file: 'direct' }), 'StatefulSet')]);
      expect(pod?.containers[0]?.livenessProbe?.httpGet.scheme).to.equal('HTTPS');
      expect((await variables('duebook-agent', 'direct')).get('TLS_KEY_FILE')).to.equal('/tls/tls.key');
      expect(await refusal('duebook-agent', { set: ['accessMode=direct'] })).to.contain('tls.existingSecret');
    });

    it('refuses a policy of an unknown form, and needs the URL of the control plane', async () => {
      expect(await refusal('duebook-agent', { set: ['policy.readonly=true'] })).to.contain('readonly');
      expect(await refusal('duebook-agent', { set: ['controlPlane.url='] })).to.contain('controlPlane.url is required');
    });
  });

  it('have notes with the next command', async () => {
    for (const chart of CHARTS) expect(read(`helm/${chart}/templates/NOTES.txt`)).to.match(/kubectl -n .+ exec /);
  });
});

/** The variables of the main container: their values, or where they come from. */
async function variables(chart: Chart, file: string, set: readonly string[] = []): Promise<Map<string, unknown>> {
  const objects = await render(chart, { file, set });
  const [pod] = podsOf(objects.filter(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind)));
  return new Map((pod?.containers[0]?.env ?? []).map(({ name, value, valueFrom }) => [name, value ?? valueFrom]));
}

function one(objects: readonly KubernetesObject[], kind: string): Required<Pick<KubernetesObject, 'metadata' | 'spec'>> & KubernetesObject {
  const [found, ...more] = objects.filter((object) => object.kind === kind);
  if (!found || more.length > 0) throw new Error(`${more.length + (found ? 1 : 0)} objects of the kind ${kind}`);
  return { spec: {}, ...found };
}

/** The pods of all objects that have some. */
const podsOf = (objects: readonly KubernetesObject[]): Pod[] =>
  objects.flatMap(({ kind, spec = {} }) => {
    if (kind === 'Pod') return [spec as unknown as Pod];
    const template = spec['template'] as { readonly spec: Pod } | undefined;
    return template ? [template.spec] : [];
  });

const containersOf = ({ containers, initContainers = [] }: Pod): Container[] => [...initContainers, ...containers];
