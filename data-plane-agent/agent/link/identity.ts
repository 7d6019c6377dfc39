import type { PublicKey, Signer } from '../../base/link/keys.js';
import type { KeyOf } from '../../base/link/tokens.js';

/** What a link needs of the identity of its agent. */
export interface LinkIdentity {
  readonly connectionId: string;
  /** The origin of the control plane. */
  readonly controlPlane: string;
  readonly instanceId: string;
  readonly tenantId: string;
  /** The agent's own key: the current one at each call, because another process may rotate it. */
  signer(): Signer;
  /** A key of the control plane that this agent accepts. */
  readonly accepts: KeyOf;
  /** From now on the agent accepts exactly these keys of the control plane. */
  pin(keys: readonly PublicKey[]): Promise<void>;
  /** The number for the next session: the same one until it is confirmed. */
  nextSequence(): Promise<number>;
  confirmSequence(sequence: number): Promise<void>;
}
