import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import { openObjectStore } from '../../data-plane-agent/plane/files/open-store.js';
import type { LookedAt } from '../installation.js';
import { check, type Check } from './check.js';

/** The object store takes, gives, lists, copies and removes a probe object, and nobody else may. Makes neither folder nor bucket. */
export async function objectStoreCheck({ values }: Pick<LookedAt, 'values'>, { clock }: { readonly clock: Clock }): Promise<Check> {
  const { objectStoreUrl: address, publicUrl, objectStorePublicUrl, edition } = values;
  if (edition === 'enterprise_hybrid') return check.ok('object_store', 'agents keep the files');
  const where = address.provider === 'filesystem' ? resolve(address.directory) : `bucket ${address.bucket} at ${address.host}:${address.port}`;
  if (address.provider === 'filesystem' && !existsSync(address.directory)) return check.ok('object_store', `${where} is made at the first start`);
  // Signs links, of which none is made here: any key serves.
  const keyRing = values.keyRing ?? parseKeyRing(generateKeyRingText());
  const { store } = openObjectStore(address, { publicUrl, storePublicUrl: objectStorePublicUrl, keyRing, clock });
  try {
    const faults = await store.probe({ makes: false });
    if (faults.length === 0) return check.ok('object_store', `${where} can be used`);
    const said = faults.map(({ step, problem }) => `${step}: ${problem}`).join('; ');
    return check.fail('object_store', `${where}: ${said}`, [...new Set(faults.map(({ fix }) => fix))].join('; '));
  } finally {
    await store.close();
  }
}
