import { expect } from 'chai';
import type { Catalog } from '../../../data-plane-agent/plane/contract/records/lifecycle.js';
import type { AuditEntry } from '../../../data-plane-agent/base/audit/records.js';
import type { ContractDetail } from '../../../data-plane-agent/plane/contract/records/contracts.js';
import type { DynamicField } from '../../../data-plane-agent/plane/contract/records/fields.js';
import type { Client } from '../http.js';

interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** Access to the demo data as its members. */
export interface DemoData {
  readonly owner: Client;
  /** A seller, who sees no account numbers and no credit limits. */
  readonly seller: Client;
  readonly contracts: readonly ContractDetail[];
  readonly fields: readonly DynamicField[];
  readonly catalog: Catalog;
}

export async function got<T>(who: Client, path: string): Promise<T> {
  const { status, body, text } = await who.get<T>(path);
  expect(status, `${path}: ${text.slice(0, 300)}`).to.equal(200);
  return body;
}

export async function page<T>(
  who: Client,
  path: string,
  query: Readonly<Record<string, string | number | boolean>> = {},
): Promise<Page<T>> {
  const { status, body, text } = await who.get<Page<T>>(path, { query: { pageSize: 200, ...query } });
  expect(status, `${path}: ${text.slice(0, 300)}`).to.equal(200);
  return body;
}

export async function all<T>(who: Client, path: string): Promise<T[]> {
  const items: T[] = [];
  for (let number = 1, total = 1; items.length < total; number++) {
    const answer = await page<T>(who, path, { page: number });
    if (answer.items.length === 0) break;
    items.push(...answer.items);
    total = answer.total;
  }
  return items;
}

/** What is asked at a time: a server refuses what would wait too long. */
const AT_ONCE = 20;

/** The answers about each of many, in their order. */
export async function ofEach<T, R>(items: readonly T[], ask: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (let i = 0; i < items.length; i += AT_ONCE)
    answers.push(...(await Promise.all(items.slice(i, i + AT_ONCE).map(ask))));
  return answers;
}

export async function some(
  who: Client,
  path: string,
  query: Readonly<Record<string, string | number | boolean>>,
): Promise<void> {
  expect((await page(who, path, { pageSize: 1, ...query })).total, JSON.stringify(query)).to.be.above(0);
}

export async function each<T>(items: readonly T[], question: (item: T) => Promise<void>): Promise<void> {
  for (const item of items) await question(item);
}

export const audit = async (who: Client, action: string): Promise<readonly AuditEntry[]> =>
  (await page<AuditEntry>(who, '/audit', { source: 'data', action })).items;

export async function audited(who: Client, actions: readonly string[]): Promise<void> {
  for (const action of actions) expect((await audit(who, action)).length, action).to.be.above(0);
}

/** Whether every value occurs. */
export function has<T, V>(items: readonly T[], valueOf: (item: T) => V, values: readonly V[]): void {
  expect([...new Set(items.map(valueOf))]).to.include.members([...values]);
}
