import { join } from 'node:path';
import { client, type Client } from '../support/http.js';
import { startProcess, type Running } from '../support/process.js';
import { root } from '../support/source.js';

/** Starts the built server on a data folder, as `npm start` does, and waits for its first answer from `/health`. */
export function startService(dataDir: string, env: Readonly<Record<string, string>> = {}): Promise<Running> {
  return startProcess([join(root, 'dist/server/main.js')], {
    path: '/api/v1/health',
    env: { DATA_DIR: dataDir, JWT_ACCESS_TTL: '12h', ...env },
  });
}

export const PASSWORD = 'a load needs no secrets 42';

/** The organisations of the benchmark: `bench` has the complete data set, `bench-small` a fortieth of it. */
export type Slug = 'bench' | 'bench-small';
/** Members that the benchmark signs in as. */
export type MemberName = 'owner' | 'some' | 'own' | 'hidden';

/** What a member signs in with. */
export const credentialsOf = (slug: string, member: string) => ({
  tenantSlug: slug,
  email: member === 'owner' ? `${slug}@example.com` : `${slug}-${member}@example.com`,
  password: PASSWORD,
});
export const credentials = (slug: Slug, member: MemberName = 'owner') => credentialsOf(slug, member);

/** Registers a tenant on a running service. */
export async function register(origin: string, slug: Slug): Promise<void> {
  const answer = await client(origin).post('/auth/register', {
    ...credentials(slug),
    tenantName: slug,
    adminName: 'Bench Owner',
    subjectName: 'Bench GmbH',
  });
  if (answer.status !== 201) throw new Error(`cannot register ${slug}: ${answer.status} ${answer.text}`);
}

export async function signIn(
  origin: string,
  slug: Slug,
  member: MemberName = 'owner',
): Promise<{ readonly api: Client; readonly token: string }> {
  const answer = await client(origin).post<{ accessToken: string }>('/auth/login', credentials(slug, member));
  if (answer.status !== 200) throw new Error(`cannot sign in to ${slug}: ${answer.status} ${answer.text}`);
  return { api: client(origin, answer.body.accessToken), token: answer.body.accessToken };
}
