import { createOutbound, type Outbound } from '../data-plane-agent/base/outbound.js';
import { LOOPBACK_RANGES } from '../data-plane-agent/base/outbound-addresses.js';
import type { Config } from './config.js';

/** Requests of ours, by whose word they are made. */
export interface Outbounds {
  /** To addresses that tenants enter. This machine only where `OUTBOUND_ALLOW_PRIVATE` lists it. */
  readonly forTenants: Outbound;
  /** To addresses from our own settings. Outside production they may be on this machine. */
  readonly forOperator: Outbound;
}

export function createOutbounds({
  outboundAllowPrivate,
  production,
}: Pick<Config, 'outboundAllowPrivate' | 'production'>): Outbounds {
  return {
    forTenants: createOutbound({ allowPrivate: outboundAllowPrivate, production }),
    forOperator: createOutbound({
      allowPrivate: [...outboundAllowPrivate, ...(production ? [] : LOOPBACK_RANGES)],
      production,
    }),
  };
}
