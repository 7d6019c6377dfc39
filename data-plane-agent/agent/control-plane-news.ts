import { LinkedTenant, PinnedKeys, TOPICS, type Welcome } from '../base/link/messages.js';
import { newerToo } from '../base/link/reading.js';
import type { Log } from '../base/log.js';
import type { AgentIdentity } from './identity.js';

/** Takes what the control plane sends over a verified session: its keys, and the settings of the organisation. */
export interface ControlPlaneNews {
  welcome(welcome: Pick<Welcome, 'tenant' | 'keys'>): Promise<void>;
  /** Unknown topics are ignored: a newer control plane may have more. */
  notice(topic: string, value: unknown): void;
}

export function createControlPlaneNews(
  identity: Pick<AgentIdentity, 'pin' | 'setTenant'>,
  { log }: { readonly log: Log },
): ControlPlaneNews {
  const takeKeys = (value: unknown): Promise<void> => {
    const keys = newerToo(PinnedKeys)(value);
    return keys.ok ? identity.pin(keys.value) : Promise.reject(new Error('not a list of keys'));
  };
  const takeTenant = (value: unknown): void => {
    const tenant = newerToo(LinkedTenant)(value);
    if (!tenant.ok) throw new Error('not the settings of an organisation');
    identity.setTenant(tenant.value);
  };
  const take = async (topic: string, value: unknown): Promise<void> => {
    if (topic === TOPICS.tenant) takeTenant(value);
    if (topic === TOPICS.keys) await takeKeys(value);
  };
  return {
    welcome: async ({ tenant, keys }) => {
      takeTenant(tenant);
      await takeKeys(keys);
    },
    notice: (topic, value) =>
      void take(topic, value).catch((error: unknown) =>
        log.error({ err: error, topic }, 'a notice of the control plane could not be used'),
      ),
  };
}
