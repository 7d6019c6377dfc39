import type { Request } from 'autocannon';
import type { Day } from '../../data-plane-agent/base/day.js';
import type { Tenant } from './dataset.js';
import { contractInput, FULL_EVERY, FULL_LINES, MOST_LINES, WORDS } from './contract-input.js';
import { pathOf } from './drawn-lists.js';
import type { Facts } from './facts.js';
import type { Asked } from './load.js';
import { credentials } from './service.js';

/** A case that is compared with the raw program, by requests per second on 32 connections. */
export interface LoadCase {
  readonly key: string;
  readonly name: string;
  /** The requests, sent in turn. */
  readonly requests: Request[];
  /** Sent to both before the load; their answers must be equal except for new ids and times. */
  readonly probes: readonly Asked[];
  /** The target: the minimum share of the raw figure. */
  readonly atLeast: number;
  /** The maximum ratio of p99 to p50. */
  readonly tail?: number;
}

export interface Subject {
  readonly tenant: Tenant;
  readonly facts: Facts;
  readonly today: Day;
}

const api = '/api/v1';
export const LIST_FILTER = new URLSearchParams({ type: 'lease', status: 'in_progress' });
export const listPath = (page: number) => pathOf(LIST_FILTER, { sort: 'endDate', order: 'desc', page });
export const contractPath = (id: string) => `${api}/contracts/${id}`;
const overduePath = (page: number) => `${api}/payments?tab=overdue&page=${page}&pageSize=20`;
export const searchPath = (q: string) => `${api}/contracts?${new URLSearchParams({ q, pageSize: '20' }).toString()}`;
/** Without a filter, so that page 2 000 exists. */
export const deepPath = (page: number) => `${api}/contracts?sort=endDate&page=${page}&pageSize=20`;
/** Answered from the rollups: the cost depends on the number of days, not of lines. */
export const FIGURE_PATHS = {
  stats: [`${api}/payments/stats`],
  analytics: ['summary', 'cashflow', 'distribution'].map((name) => `${api}/analytics/${name}`),
} as const;
export const SEARCHES = {
  'rare, Latin': WORDS.rareLatin,
  'common, Latin': WORDS.commonLatin,
  'rare, CJK': WORDS.rareCjk,
  'common, CJK': WORDS.commonCjk,
} as const;

const pages = Array.from({ length: 50 }, (_, i) => i + 1);

/** Reads come first, because writes would change their answers. */
export function loadCases(subject: Subject): readonly LoadCase[] {
  const { facts } = subject;
  const createOf = newContracts(subject, [FULL_LINES]);
  const variedOf = newContracts(
    subject,
    Array.from({ length: MOST_LINES }, (_, n) => 1 + ((n * 37) % MOST_LINES)),
  );
  const receiptOf = newReceipts(subject);
  const [contract] = facts.fullContracts;
  if (contract === undefined || facts.openLines.length === 0 || facts.variedContracts.length === 0)
    throw new Error('the data set has too few contracts for the benchmark');
  return [
    {
      key: 'list',
      name: 'list: page of 20, filtered, sorted, exact total',
      requests: pages.map((page) => get(listPath(page))),
      probes: [{ method: 'GET', path: listPath(7) }],
      atLeast: 0.7,
      tail: 4,
    },
    {
      key: 'get',
      name: 'get with 12 lines, terms, notes, tasks, invoices',
      requests: facts.fullContracts.map((id) => get(contractPath(id))),
      probes: [{ method: 'GET', path: contractPath(contract) }],
      atLeast: 0.7,
    },
    {
      key: 'get-varied',
      name: `get of contracts of 1 to ${MOST_LINES} lines`,
      requests: facts.variedContracts.map((id) => get(contractPath(id))),
      probes: facts.variedContracts.slice(0, 60).map((id) => ({ method: 'GET', path: contractPath(id) })),
      atLeast: 0.7,
    },
    {
      key: 'overdue',
      name: 'payments, tab overdue',
      requests: pages.map((page) => get(overduePath(page))),
      probes: [{ method: 'GET', path: overduePath(7) }],
      atLeast: 0.6,
    },
    {
      key: 'create',
      name: 'create with 12 lines, durable',
      requests: [{ method: 'POST', path: `${api}/contracts`, setupRequest: (sent) => ({ ...sent, body: createOf() }) }],
      probes: [{ method: 'POST', path: `${api}/contracts`, body: createOf() }],
      atLeast: 0.8,
    },
    {
      key: 'create-varied',
      name: `create with 1 to ${MOST_LINES} lines, durable`,
      requests: [{ method: 'POST', path: `${api}/contracts`, setupRequest: (sent) => ({ ...sent, body: variedOf() }) }],
      probes: Array.from({ length: MOST_LINES }, () => ({
        method: 'POST',
        path: `${api}/contracts`,
        body: variedOf(),
      })),
      atLeast: 0.8,
    },
    {
      key: 'create-key',
      name: 'create with 12 lines, durable, Idempotency-Key',
      requests: [
        { method: 'POST', path: `${api}/contracts`, setupRequest: (sent) => withKey({ ...sent, body: createOf() }) },
      ],
      probes: [],
      atLeast: 0.8,
    },
    {
      key: 'receipt',
      name: 'receipt, durable',
      requests: [{ method: 'PATCH', setupRequest: (sent) => ({ ...sent, ...receiptOf() }) }],
      probes: [{ method: 'PATCH', ...receiptOf() }],
      atLeast: 0.8,
    },
    {
      key: 'login',
      name: 'login against bare argon2id',
      requests: [{ method: 'POST', path: `${api}/auth/login`, body: JSON.stringify(credentials('bench')) }],
      probes: [],
      atLeast: 0.9,
    },
  ];
}

const get = (path: string): Request => ({ method: 'GET', path });

let keys = 0;
const withKey = (sent: Request): Request => ({
  ...sent,
  headers: { ...sent.headers, 'idempotency-key': `bench-${process.pid}-${++keys}` },
});

/**
 * Bodies of new contracts with these numbers of lines in turn: templates with the number filled in, so that making them
 * costs almost nothing.
 */
function newContracts({ tenant, today }: Subject, lineCounts: readonly number[]): () => string {
  const templates = lineCounts.map((lines) => {
    const {
      payments = [],
      workflowStage: _,
      typeCode: _code,
      ...input
    } = contractInput(FULL_EVERY, {
      count: tenant.contracts,
      today,
      owner: tenant,
      lines,
    });
    const plan = (payments ?? []).map(({ period, dueDate, amount }) => ({ period, dueDate, amount }));
    return JSON.stringify({ ...input, archiveCode: 'ANEW-<n>', contractNo: 'NEW-<n>', payments: plan }).split('<n>');
  });
  return () => {
    const n = (created += 1);
    const [before = '', between = '', after = ''] = templates[n % templates.length] ?? [];
    return `${before}${n}${between}${n}${after}`;
  };
}
let created = 0;

/** Receipts for one line after the other, with a different amount each time, smaller than that of any line. */
export function newReceipts({ facts }: Subject): () => { readonly path: string; readonly body: string } {
  return () => {
    const n = (received += 1);
    const id = facts.openLines[n % facts.openLines.length] ?? '';
    const body = JSON.stringify({
      receivedAmount: (((n * 7) % 90_000) + 1) / 100,
      method: 'bank_transfer',
      payerName: 'Accounts payable',
      bankSerialNo: `BENCH-${n}`,
    });
    return { path: `${api}/payments/${id}/receipt`, body };
  };
}
/** Of all receipts, so that none repeats an earlier one. */
let received = 0;
