import type { Endpoints } from '../http/mount.js';
import { authEndpoints } from './auth.js';
import { contractEndpoints } from './contracts.js';
import { healthEndpoints } from './health.js';
import { paymentEndpoints } from './payments.js';

/** The one list: routes, access checks, validation, the OpenAPI document and the guarantee tests all come from it. */
export const ENDPOINTS = {
  ...authEndpoints,
  ...healthEndpoints,
  ...contractEndpoints,
  ...paymentEndpoints,
} as const satisfies Endpoints;
