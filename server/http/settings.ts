import { integer, origins, setting } from '../../data-plane-agent/base/config.js';

/** How requests are answered, whatever they are about. */
export const HTTP_SETTINGS = {
  rateLimitPerMinute: setting({
    name: 'RATE_LIMIT_PER_MINUTE',
    about: 'Requests per minute of a session, or of an IP address without a session; 0 means no limit.',
    kind: integer({ min: 0, max: 10_000_000 }),
    default: 0,
  }),
  corsOrigins: setting({
    name: 'CORS_ORIGINS',
    about: 'Origins whose pages may read API answers, comma-separated.',
    kind: origins(),
    default: '',
  }),
  drainSeconds: setting({
    name: 'DRAIN_SECONDS',
    about:
      'Seconds for which the server goes on answering after SIGTERM, until load balancers know that it ends: it is not ready, and each answer ends its connection.',
    kind: integer({ min: 0, max: 15 }),
    default: 0,
  }),
  trustProxy: setting({
    name: 'TRUST_PROXY',
    about: 'The number of your own proxies in front of the service, whose X-Forwarded-For is trusted.',
    kind: integer({ min: 0, max: 16 }),
    default: 0,
  }),
} as const;
