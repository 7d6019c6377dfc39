import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import { openObjectStore } from '../../data-plane-agent/plane/files/objects/open-store.js';
import type { LookedAt } from '../installation.js';
import { check, type Check } from './check.js';
import { obstacleTo } from './disk.js';

/**
 * The object store can write, read, list, copy and delete a probe object, and refuses anonymous access. Creates neither
 * folder nor bucket.
 */
export async function objectStoreCheck(
  { values }: Pick<LookedAt, 'values'>,
  { clock }: { readonly clock: Clock },
): Promise<Check> {
  const { objectStoreUrl: address, publicUrl, objectStorePublicUrl, edition } = values;
  if (edition === 'enterprise_hybrid') return check.ok('object_store', 'agents keep the files');
  const where =
    address.provider === 'filesystem'
      ? resolve(address.directory)
      : `bucket ${address.bucket} at ${address.host}:${address.port}`;
  if (address.provider === 'filesystem' && !existsSync(address.directory)) {
    const obstacle = obstacleTo(where);
    if (obstacle !== undefined)
      return check.fail(
        'object_store',
        obstacle,
        `let the user that runs the server write to ${where}, or name another folder in OBJECT_STORE_URL`,
      );
    return check.ok('object_store', `${where} will be created at the first start`);
  }
  // The key ring signs links. None is created here, so any key will do.
  const keyRing = values.keyRing ?? parseKeyRing(generateKeyRingText());
  const { store } = openObjectStore(address, { publicUrl, storePublicUrl: objectStorePublicUrl, keyRing, clock });
  try {
    const faults = await store.probe({ makes: false });
    if (faults.length === 0) return check.ok('object_store', `${where} can be used`);
    const [first, ...others] = faults;
    // Only the server creates the bucket, so whether it may is not known here.
    if (first?.isYetToBe === true && others.length === 0)
      return check.warn(
        'object_store',
        `${where} does not exist yet`,
        `start the server, which creates it if the access key has s3:CreateBucket; or ${first.fix}`,
      );
    const said = faults.map(({ step, problem }) => `${step}: ${problem}`).join('; ');
    return check.fail('object_store', `${where}: ${said}`, [...new Set(faults.map(({ fix }) => fix))].join('; '));
  } finally {
    await store.close();
  }
}
