import { ALL_RIGHTS } from '../../data-plane-agent/plane/contract/call.js';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { bind } from '../../data-plane-agent/plane/contract/data-plane.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import type { Composed } from '../../server/compose.js';
import { todayIn } from '../../data-plane-agent/base/day.js';
import { DEMO_OWNER, DEMO_TENANT } from './cast.js';
import type { DemoTenant } from './tenant.js';

/** A request for the user to try. */
export interface Request {
  readonly about: string;
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly url: string;
  readonly token?: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

/**
 * Signing in, the overdue contracts, and the receipt that settles an overdue line; with a new token where one is
 * needed.
 */
export async function firstRequests(
  composed: Composed,
  { tenant, address, clock }: { tenant: DemoTenant; address: string; clock: Clock },
): Promise<Request[]> {
  const api = `${address}/api/v1`;
  const body = { tenantSlug: DEMO_TENANT.slug, email: DEMO_OWNER.email, password: tenant.password };
  const signIn: Request = { about: 'Sign in', method: 'POST', url: `${api}/auth/login`, body };
  const token = await accessToken(composed, body, clock);
  if (token === undefined) return [signIn];
  return [
    signIn,
    {
      about: 'The contracts with overdue payments, the longest overdue first',
      method: 'GET',
      url: `${api}/contracts?overdue=true&sort=nextDueDate&pageSize=5`,
      token,
    },
    await lastRequest(composed, { tenant, api, token, clock }),
  ];
}

/** Undefined when the owner's password was changed, a second factor is required or the tenant is suspended. */
async function accessToken(
  { services }: Composed,
  credentials: { tenantSlug: string; email: string; password: string },
  clock: Clock,
): Promise<string | undefined> {
  const request = {
    id: newId(),
    ip: '127.0.0.1',
    userAgent: 'duebook demo',
    origin: undefined,
    secFetchSite: undefined,
    cookies: {},
    ifMatch: undefined,
    receivedAt: clock.now(),
  };
  try {
    const result = await services.sessions.login(credentials, request);
    return 'accessToken' in result ? result.accessToken : undefined;
  } catch (error) {
    const refused = ['UNAUTHENTICATED', 'TENANT_SUSPENDED', 'RATE_LIMITED'] as const;
    if (refused.some((code) => isFailure(error, code))) return undefined;
    throw error;
  }
}

async function lastRequest(
  { foundation }: Composed,
  { tenant, api, token, clock }: { tenant: DemoTenant; api: string; token: string; clock: Clock },
): Promise<Request> {
  const plane = bind(
    foundation.dataPlanes.forTenant(tenant.id),
    {
      tenantId: tenant.id,
      requestId: newId(),
      timeoutMs: 10_000,
      actor: { kind: 'cli', id: null, name: 'duebook', roleCode: null, ip: null },
      subjectScope: null,
      ownerScope: null,
      controls: {},
      rights: ALL_RIGHTS,
      timeZone: tenant.timeZone,
      today: todayIn(tenant.timeZone, clock.now()),
      reminderLeadDays: 7,
      reminderEscalationDays: 7,
      reminderHour: 9,
      currencyCode: 'CNY',
      language: 'en',
      idempotency: null,
      ifVersion: null,
    },
    { operations: OPERATIONS },
  );
  const { items } = await plane.listPayments({ tab: 'overdue', pageSize: 1 });
  const [line] = items;
  if (!line) return { about: 'The payment statistics', method: 'GET', url: `${api}/payments/stats`, token };
  return {
    about: `Record that ${line.partyA} has paid ${line.period} of ${line.contractNo}`,
    method: 'PATCH',
    url: `${api}/payments/${line.id}/receipt`,
    token,
    body: { receivedAmount: line.amount, method: 'Bank transfer', reconciliationStatus: 'matched' },
  };
}
