import { createOutbound, type Outbound } from '../data-plane-agent/base/outbound.js';
import { LOOPBACK_RANGES } from '../data-plane-agent/base/outbound-addresses.js';
import { tracedOutbound } from '../data-plane-agent/base/tracing/outbound.js';
import type { Config } from './config.js';

/** Clients for outbound requests, by who supplies the addresses. */
export interface Outbounds {
  /** For addresses entered by tenants. Loopback is allowed only if `OUTBOUND_ALLOW_PRIVATE` lists it. */
  readonly forTenants: Outbound;
  /** For addresses from our own settings. Outside production, loopback is allowed. */
  readonly forOperator: Outbound;
}

export function createOutbounds({
  outboundAllowPrivate,
  production,
}: Pick<Config, 'outboundAllowPrivate' | 'production'>): Outbounds {
  return {
    forTenants: tracedOutbound(createOutbound({ allowPrivate: outboundAllowPrivate, production }), {
      namesHost: false,
    }),
    forOperator: tracedOutbound(
      createOutbound({
        allowPrivate: [...outboundAllowPrivate, ...(production ? [] : LOOPBACK_RANGES)],
        production,
      }),
      { namesHost: true },
    ),
  };
}
