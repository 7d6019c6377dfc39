import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Clock } from '../../base/clock.js';
import { check, type Check } from '../../base/command-line/check.js';
import { obstacleTo } from '../../base/command-line/disk.js';
import { generateKeyRingText, parseKeyRing, type KeyRing } from '../../base/secrets.js';
import type { ObjectStoreAddress } from '../../plane/files/objects/object-store-address.js';
import type { StoreFault } from '../../plane/files/objects/object-store.js';
import { openObjectStore } from '../../plane/files/objects/open-store.js';
import type { HostSettings } from '../settings.js';

/**
 * The object store can write, read, list, copy and delete a probe object, and refuses anonymous access; a bucket's
 * server also has our time. Creates neither folder nor bucket.
 */
export async function objectStoreChecks(
  values: Pick<HostSettings, 'objectStoreUrl' | 'publicUrl' | 'objectStorePublicUrl'> & {
    readonly keyRing: KeyRing | undefined;
  },
  { clock, program }: { readonly clock: Clock; readonly program: 'server' | 'agent' },
): Promise<Check[]> {
  const { objectStoreUrl: address, publicUrl, objectStorePublicUrl } = values;
  const where =
    address.provider === 'filesystem'
      ? resolve(address.directory)
      : `bucket ${address.bucket} at ${address.host}:${address.port}`;
  if (address.provider === 'filesystem' && !existsSync(address.directory)) {
    const obstacle = obstacleTo(where);
    if (obstacle !== undefined)
      return [
        check.fail(
          'object_store',
          obstacle,
          `let the user that runs the ${program} write to ${where}, or name another folder in OBJECT_STORE_URL`,
        ),
      ];
    return [check.ok('object_store', `${where} will be created at the first start`)];
  }
  // The key ring signs links. None is created here, so any key will do.
  const keyRing = values.keyRing ?? parseKeyRing(generateKeyRingText());
  const { store } = openObjectStore(address, { publicUrl, storePublicUrl: objectStorePublicUrl, keyRing, clock });
  try {
    const faults = await store.probe({ makes: false });
    return [storeCheck(faults, { where, program }), ...clockOf(address, faults)];
  } finally {
    await store.close();
  }
}

function storeCheck(
  all: readonly StoreFault[],
  { where, program }: { readonly where: string; readonly program: 'server' | 'agent' },
): Check {
  const faults = all.filter(({ step }) => step !== 'clock');
  const [first, ...others] = faults;
  if (!first)
    return all.some(({ endsProbe }) => endsProbe === true)
      ? check.warn(
          'object_store',
          `${where} refuses requests because of the time: not examined further`,
          'correct the clock first',
        )
      : check.ok('object_store', `${where} can be used`);
  // Only the running program creates the bucket, so whether it may is not known here.
  if (first.isYetToBe === true && others.length === 0)
    return check.warn(
      'object_store',
      `${where} does not exist yet`,
      `start the ${program}, which creates it if the access key has s3:CreateBucket; or ${first.fix}`,
    );
  const said = faults.map(({ step, problem }) => `${step}: ${problem}`).join('; ');
  return check.fail('object_store', `${where}: ${said}`, [...new Set(faults.map(({ fix }) => fix))].join('; '));
}

/** Of a server that answered: signed links depend on its clock. */
function clockOf({ provider }: ObjectStoreAddress, faults: readonly StoreFault[]): Check[] {
  if (provider === 'filesystem' || faults.some(({ step }) => step === 'reach')) return [];
  const fault = faults.find(({ step }) => step === 'clock');
  return [
    fault
      ? check.fail('object_store_clock', fault.problem, fault.fix)
      : check.ok('object_store_clock', 'agrees with the object store'),
  ];
}
