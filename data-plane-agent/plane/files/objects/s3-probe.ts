import { text } from 'node:stream/consumers';
import type { Client } from 'minio';
import type { Clock } from '../../../base/clock.js';
import { TIMEOUT_MS } from './deadline.js';
import type { S3Address } from './object-store-address.js';
import { ObjectStoreError, type ObjectStore, type StoreFault } from './object-store.js';
import { SYNC_CLOCKS, settingFault } from './s3-errors.js';
import { bucketUrl } from './s3-signature.js';
import type { Ask, Requests, S3Transport } from './s3-transport.js';
import { attempt, isFault, probeObject } from './store-probe.js';

interface Probed {
  readonly address: S3Address;
  readonly origin: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly transport: S3Transport;
  readonly ask: Ask;
  /** Whether a missing bucket is created. */
  readonly makes: boolean;
}

/**
 * Checks that the server is reachable, its clock is right, the bucket is private, and the credentials have the required
 * permissions.
 */
export async function probeS3(
  store: ObjectStore,
  { address, origin, client, clock, transport, ask, makes }: Probed,
): Promise<readonly StoreFault[]> {
  const { bucket, region, accessKey, tls } = address;
  const base = bucketUrl(address, origin);
  const list = new URL('?list-type=2&max-keys=1', base);
  const anonymous = (url: URL): Promise<Answer> => ask(() => get(transport.buffered(TIMEOUT_MS), url));
  const grant = (...permissions: readonly string[]): string =>
    `grant ${permissions.join(' and ')} on the bucket ${bucket} to the access key ${accessKey}`;

  const reached = await attempt(
    'reach',
    `check that host, port and tls of OBJECT_STORE_URL are right and ${origin} is reachable from here${tls ? ', and that its certificate is trusted here (NODE_EXTRA_CA_CERTS names the file of a private authority); a server without TLS needs tls=false' : ''}`,
    async () => {
      const answer = await anonymous(list);
      if (answer.status >= 500) throw new ObjectStoreError('unavailable', `the object store answers ${answer.status}`);
      return answer;
    },
  );
  if (isFault(reached)) return [reached];
  const faults: StoreFault[] = [...clockFaults(reached.value, clock)];

  // Unlike HEAD, a list request is refused with a reason. Missing permissions are found by the steps below.
  const wrong = await ask(() => client.listObjectsV2Query(bucket, '', '', '', 1, '')).then(
    () => undefined,
    (error: unknown) => settingFault(error, address),
  );
  if (wrong)
    return [
      ...faults.filter(({ step }) => step !== wrong.step),
      {
        ...(faults.find(({ step }) => step === wrong.step) ?? wrong),
        ...(wrong.step === 'clock' ? { endsProbe: true } : {}),
      },
    ];

  let isYetToBe = false;
  const there = await attempt('bucket', grant('s3:ListBucket'), async () => {
    if (await ask(() => client.bucketExists(bucket))) return;
    isYetToBe = !makes;
    if (!makes) throw new Error(`the bucket ${bucket} does not exist`);
    try {
      await ask(() => client.makeBucket(bucket, region));
    } catch (error) {
      // Another process may have created it at the same moment.
      if (!(await ask(() => client.bucketExists(bucket)))) throw error;
    }
  });
  if (isFault(there)) {
    // Credentials may lack only the permission to check the bucket: the steps below find out.
    const fix = `create the bucket ${bucket}, or ${grant('s3:CreateBucket')}`;
    faults.push({ ...there, fix, ...(isYetToBe ? { isYetToBe } : {}) });
  }
  const whilePresent = async (key: string): Promise<readonly StoreFault[]> => {
    const fix = `remove public access from the bucket ${bucket}: its policy, and on AWS Block Public Access`;
    const asked = await attempt('private', fix, async () => {
      const open = [
        ...((await anonymous(new URL(key, base))).status === 200 ? ['read its objects'] : []),
        ...((await anonymous(list)).status === 200 ? ['list them'] : []),
      ];
      if (open.length > 0) throw new Error(`anyone may ${open.join(' and ')}`);
    });
    return isFault(asked) ? [asked] : [];
  };
  const found = await probeObject(
    store,
    {
      put: grant('s3:PutObject'),
      get: grant('s3:GetObject'),
      list: grant('s3:ListBucket'),
      copy: grant('s3:GetObject', 's3:PutObject'),
      delete: grant('s3:DeleteObject'),
    },
    { whilePresent },
  );
  // Without a bucket every step fails; one fault is enough.
  return isFault(there) && found.some(({ step }) => step === 'put') ? faults : [...faults, ...found];
}

/** A download link is valid for a minute by the server's clock. */
const SKEW_MS = 30_000;

interface Answer {
  readonly status: number;
  readonly date: string | undefined;
}

/** An unsigned request. */
const get = (requests: Requests, url: URL): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const request = requests.request(url, (answer) => {
      text(answer).then(() => resolve({ status: answer.statusCode ?? 0, date: answer.headers.date }), reject);
    });
    request.on('error', reject);
    request.end();
  });

function clockFaults({ date }: Answer, clock: Clock): readonly StoreFault[] {
  const theirs = Date.parse(date ?? '');
  const ahead = theirs - clock.now();
  if (Number.isNaN(ahead) || Math.abs(ahead) <= SKEW_MS) return [];
  return [
    {
      step: 'clock',
      problem: `the clock of the object store is ${Math.round(Math.abs(ahead) / 1000)} s ${ahead > 0 ? 'ahead of' : 'behind'} ours`,
      fix: SYNC_CLOCKS,
    },
  ];
}
