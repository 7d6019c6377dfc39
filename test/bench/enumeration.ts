import Sqlite from 'better-sqlite3';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { client, type Answer, type Client } from '../support/http.js';
import { CACHE } from './dataset.js';
import { median, WrongAnswer } from './load.js';
import type { Row } from './report.js';
import { PASSWORD, register, signIn, startService } from './service.js';

/**
 * Whether the duration of a refused sign-in reveals if an account exists: the same number of attempts of each class,
 * alternating, on a separate service.
 */
export async function enumerationRows(): Promise<Row[]> {
  await mkdir(CACHE, { recursive: true });
  const dataDir = await mkdtemp(join(CACHE, 'enumeration-'));
  try {
    // Without limits, because a locked account is refused before the measured work.
    const service = await startService(dataDir, {
      LOGIN_FAILURES_PER_ACCOUNT: '0',
      LOGIN_FAILURES_PER_IP: '0',
      RATE_LIMIT_PER_MINUTE: '0',
    });
    try {
      await makeAccounts(service.origin, dataDir);
      return rowsOf(await timesOf(client(service.origin)));
    } finally {
      await service.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

const ATTEMPTS = 60;
const WARM_UP = 5;
/** The maximum ratio of the slowest to the fastest class. */
const MOST_SPREAD = 0.1;

const member = {
  disabled: 'disabled@example.com',
  sso: 'single-sign-on@example.com',
  ordinary: 'ordinary@example.com',
} as const;
type Kind = keyof typeof member;

/** What is wrong with each attempt. Except for the last one, the password is or was that of the account. */
const CLASSES: Readonly<
  Record<string, { readonly tenantSlug: string; readonly email: string; readonly password: string }>
> = {
  'unknown tenant': { tenantSlug: 'no-such-tenant', email: member.ordinary, password: PASSWORD },
  'unknown email': { tenantSlug: 'bench', email: 'nobody@example.com', password: PASSWORD },
  'disabled member': { tenantSlug: 'bench', email: member.disabled, password: PASSWORD },
  'SSO-only member': { tenantSlug: 'bench', email: member.sso, password: PASSWORD },
  'wrong password': { tenantSlug: 'bench', email: member.ordinary, password: `${PASSWORD} not` },
};

async function makeAccounts(origin: string, dataDir: string): Promise<void> {
  await register(origin, 'bench');
  const { api } = await signIn(origin, 'bench');
  const ids = {
    disabled: await memberBy(api, 'disabled'),
    sso: await memberBy(api, 'sso'),
    ordinary: await memberBy(api, 'ordinary'),
  };
  expected(await api.patch(`/tenant-admin/members/${ids.disabled}`, { status: 'disabled' }), 200);
  // A member without a password, as if created by single sign-on.
  const platform = new Sqlite(join(dataDir, 'platform.db'), { timeout: 5_000 });
  try {
    platform.prepare('UPDATE members SET password_hash = NULL WHERE id = ?').run(ids.sso);
  } finally {
    platform.close();
  }
}

/** Returns the id of a member who accepted an invitation. */
async function memberBy(api: Client, kind: Kind): Promise<string> {
  const invited = await api.post<{ inviteLink: string }>('/tenant-admin/invitations', {
    email: member[kind],
    roleCode: 'viewer',
  });
  expected(invited, 201);
  const token = new URLSearchParams(new URL(invited.body.inviteLink).hash.slice(1)).get('token');
  const accepted = await client(api.origin).post<{ user: { id: string } }>('/auth/invitations/accept', {
    token,
    name: `Bench ${kind}`,
    password: PASSWORD,
  });
  expected(accepted, 201);
  return accepted.body.user.id;
}

function expected({ status, text }: Answer<unknown>, wanted: number): void {
  if (status !== wanted) throw new WrongAnswer(`the accounts of the bench: ${status} ${text.slice(0, 500)}`);
}

/** Milliseconds by class. The order changes each round, so that no class always follows the same one. */
async function timesOf(api: Client): Promise<Readonly<Record<string, readonly number[]>>> {
  const times: Record<string, number[]> = Object.fromEntries(Object.keys(CLASSES).map((name) => [name, []]));
  for (let round = -WARM_UP; round < ATTEMPTS; round++) {
    for (const [name, credentials] of shuffled(Object.entries(CLASSES))) {
      const began = performance.now();
      const { status, text } = await api.post('/auth/login', credentials);
      const took = performance.now() - began;
      if (status !== 401 && status !== 429) throw new WrongAnswer(`login, ${name}: ${status} ${text.slice(0, 500)}`);
      // Attempts refused by a rate limit did not do the work.
      if (round >= 0 && status === 401) times[name]?.push(took);
    }
  }
  return times;
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** A line for each class with its ratio to the fastest, and one for the largest ratio. */
export function rowsOf(times: Readonly<Record<string, readonly number[]>>): Row[] {
  const medians = Object.entries(times).map(([name, all]) => ({ name, figure: median(all), attempts: all.length }));
  const quickest = Math.min(...medians.map(({ figure }) => figure));
  const slowest = Math.max(...medians.map(({ figure }) => figure));
  const key = 'enumeration';
  return [
    ...medians.map(({ name, figure, attempts }): Row => {
      const ratio = figure / quickest;
      return {
        key,
        name: `refused login: ${name}`,
        unit: 'ms',
        figure,
        raw: null,
        ratio,
        target: `p50 ≤ ${1 + MOST_SPREAD} × the quickest class`,
        met: ratio <= 1 + MOST_SPREAD,
        details: { attempts },
      };
    }),
    {
      key,
      name: 'refused login: spread of the medians',
      unit: '%',
      figure: (slowest / quickest - 1) * 100,
      raw: null,
      ratio: null,
      target: `≤ ${MOST_SPREAD * 100} %`,
      met: slowest / quickest <= 1 + MOST_SPREAD,
      details: { medians },
    },
  ];
}
