import { isFailure } from '../../data-plane-agent/base/failures.js';

/** The data plane of a tenant cannot be used now, and nothing was changed. */
export const AWAY_CODES = [
  'DATA_PLANE_NOT_CONNECTED',
  'DATA_PLANE_UNAVAILABLE',
  'DATA_PLANE_MISMATCH',
  'DATA_MOVING',
  'DATA_MOVED',
] as const;

/** Whether work of a schedule failed only because the tenant's data plane cannot be used now: it is tried again. */
export const isAway = (error: unknown): boolean => AWAY_CODES.some((code) => isFailure(error, code));
