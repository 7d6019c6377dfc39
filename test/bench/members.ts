import { client, type Answer, type Client } from '../support/http.js';
import type { Named } from './contract-input.js';
import { WrongAnswer } from './load.js';
import { PASSWORD, credentialsOf, type MemberName } from './service.js';

/** What each member of the benchmark may see. The owner sees everything. */
export const SCOPES: Readonly<
  Record<Exclude<MemberName, 'owner'>, { readonly roleCode: string; readonly subjects: number | null }>
> = {
  /** Some subject companies. */
  some: { roleCode: 'finance', subjects: 5 },
  /** Only contracts that they own or supervise. */
  own: { roleCode: 'manager', subjects: null },
  /** Everything but accounts and two custom fields. */
  hidden: { roleCode: 'viewer', subjects: null },
};
export const SEES_ALL_FIELDS = ['owner', 'admin', 'manager', 'finance'] as const;

const SUBJECTS = 20;
/** Besides those with a scope. They own contracts, and nobody signs in as one of them. */
const OWNERS = 10;

export async function addSubjects(api: Client): Promise<Named[]> {
  const subjects: Named[] = [];
  for (let n = 2; n <= SUBJECTS; n++) {
    const added = await api.post<Named>('/tenant-admin/subjects', { name: `Bench ${n} GmbH` });
    if (added.status !== 201) throw wrong(added);
    subjects.push({ id: added.body.id, name: added.body.name });
  }
  return subjects;
}

export interface Member extends Named {
  readonly email: string;
}

export async function addMembers(
  api: Client,
  slug: string,
  subjects: readonly Named[],
): Promise<{ readonly scoped: readonly Member[]; readonly owners: readonly Member[] }> {
  const settings = await api.patch('/tenant-admin/settings', { ownerScopeEnabled: true });
  if (settings.status !== 200) throw wrong(settings);
  const scoped: Member[] = [];
  for (const [name, { roleCode, subjects: count }] of Object.entries(SCOPES)) {
    const subjectScope = count === null ? null : subjects.slice(0, count).map(({ id }) => id);
    scoped.push(await invited(api, { email: credentialsOf(slug, name).email, roleCode, subjectScope }));
  }
  const owners: Member[] = [];
  for (let n = 0; n < OWNERS; n++)
    owners.push(await invited(api, { email: `${slug}-owner-${n}@example.com`, roleCode: 'sales', subjectScope: null }));
  return { scoped, owners };
}

async function invited(
  api: Client,
  invitation: { readonly email: string; readonly roleCode: string; readonly subjectScope: readonly string[] | null },
): Promise<Member> {
  const answer = await api.post<{ inviteLink: string }>('/tenant-admin/invitations', invitation);
  if (answer.status !== 201) throw wrong(answer);
  const token = new URLSearchParams(new URL(answer.body.inviteLink).hash.slice(1)).get('token');
  const name = `Member ${invitation.email.slice(0, invitation.email.indexOf('@'))}`;
  const accepted = await client(api.origin).post<{ user: { id: string } }>('/auth/invitations/accept', {
    token,
    name,
    password: PASSWORD,
  });
  if (accepted.status !== 201) throw wrong(accepted);
  return { id: accepted.body.user.id, name, email: invitation.email };
}

const FIELDS = {
  site: { name: 'Site', type: 'text' },
  load: { name: 'Connected load', type: 'number' },
  rating: { name: 'Rating', type: 'text', visibleRoles: SEES_ALL_FIELDS },
  margin: { name: 'Margin', type: 'number', visibleRoles: SEES_ALL_FIELDS },
} as const;

export async function addFields(api: Client): Promise<Readonly<Record<keyof typeof FIELDS, string>>> {
  const made = async (code: keyof typeof FIELDS): Promise<string> => {
    const answer = await api.post<{ field: { id: string } }>('/dynamic-fields/commands', {
      type: 'CreateField',
      payload: { code, ...FIELDS[code] },
    });
    if (answer.status >= 300) throw wrong(answer);
    return answer.body.field.id;
  };
  return {
    site: await made('site'),
    load: await made('load'),
    rating: await made('rating'),
    margin: await made('margin'),
  };
}

export async function addTypes(api: Client): Promise<string[]> {
  const codes = ['crane_hire', 'turnkey'];
  for (const code of codes) {
    const answer = await api.post('/contract-config/types', { code, name: code });
    if (answer.status !== 201) throw wrong(answer);
  }
  return codes;
}

const wrong = ({ status, text }: Answer<unknown>): WrongAnswer =>
  new WrongAnswer(`the data set: ${status} ${text.slice(0, 500)}`);
