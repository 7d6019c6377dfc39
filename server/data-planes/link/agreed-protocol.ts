import { negotiated, type ProtocolRange } from '../../../data-plane-agent/base/link/limits.js';
import type { Hello } from '../../../data-plane-agent/base/link/messages.js';

/** The version of the protocol to speak with an agent, or why there is none and which program to upgrade. */
export function agreed(
  { protocols, version }: Pick<Hello, 'protocols' | 'version'>,
  ours: ProtocolRange,
):
  | { readonly protocol: number; readonly refusal?: undefined }
  | { readonly protocol?: undefined; readonly refusal: string } {
  const protocol = negotiated(ours, protocols);
  if (protocol !== undefined) return { protocol };
  const older = protocols.min > ours.max ? 'control plane' : 'agent';
  return {
    refusal: `upgrade the ${older}: the agent (${version}) speaks version ${spoken(protocols)} of the protocol, the control plane ${spoken(ours)}`,
  };
}

const spoken = ({ min, max }: ProtocolRange): string => (min === max ? String(min) : `${min} to ${max}`);
