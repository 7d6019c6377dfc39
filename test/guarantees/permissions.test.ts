import { expect } from 'chai';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import type { Endpoint } from '../../server/http/endpoint.js';
import type { Client, DomainError, FrameworkError } from '../support/http.js';
import { startServer, type TestServer } from '../support/server.js';
import { API_DOCUMENT, EXTENSIONS } from './api-document.js';
import { CHANGES_CALLER } from './auth-requests.js';
import { memberOf, organisation, type Organisation, type SignedIn } from './organisations.js';
import { sampleOf, send } from './requests.js';

/** Only the member who requested an upload can confirm it. */
const ABOUT_CALLER: ReadonlySet<string> = new Set(['POST /files/confirm']);

/** The table of roles and modules, written independently: E edit, V view, – none. */
const MODULES = [
  'contract_view',
  'contract_edit',
  'contract_delete',
  'payment_entry',
  'invoice',
  'export',
  'collection',
  'admin',
  'custom_fields',
  'sensitive_data',
];
const ROLES: Readonly<Record<string, string>> = {
  owner: 'E E E E E E E E E E',
  admin: 'E E E E E E E E E E',
  manager: 'E E E V V E E – V V',
  sales: 'E E – V V – V – V –',
  legal: 'E E – V V – – – V –',
  finance: 'V – – E E E E – V V',
  viewer: 'V – – V V – V – V –',
};

/** The features of each plan, and the editions in which direct API access depends on the plan. */
const PLANS = {
  free: [],
  pro: ['workflowAutomation', 'customFields'],
  business: ['apiAccess', 'workflowAutomation', 'customFields', 'aiGateway'],
  enterprise: ['apiAccess', 'workflowAutomation', 'customFields', 'aiGateway'],
} as const;
const EDITIONS = { self_hosted: false, saas: true, enterprise_hybrid: true } as const;

/** The permission that a route requires, according to the API document rather than the endpoint. */
const promised = new Map([...API_DOCUMENT, ...EXTENSIONS].map((row) => [row.route, row]));
const endpoints: readonly Endpoint[] = Object.values(ENDPOINTS);
/** Requires, besides its module, that the caller is the owner, once the request is well-formed. */
const OWNER_ONLY: ReadonlySet<string> = new Set(['POST /tenant-admin/owner-transfer']);
const NOBODY = '01890000-0000-7000-8000-0000000000ff';

describe('every endpoint checks its module', () => {
  let server: TestServer;
  let org: Organisation;
  before(async () => {
    server = await startServer({ env: { LOGIN_FAILURES_PER_ACCOUNT: '0', LOGIN_FAILURES_PER_IP: '0' } });
    org = await organisation(server);
  });
  after(() => server.stop());

  for (const role of Object.keys(ROLES)) {
    describe(`for the role ${role}`, () => {
      // One session for all requests except those that change the caller.
      let session: Promise<SignedIn> | undefined;
      const asRole = () => (session ??= memberOf(org, { roleCode: role }));
      /** A caller in a new organisation, with a request that changes that caller. */
      const ofItsOwn = async (route: string) => {
        const own = await organisation(server);
        const caller = role === 'owner' ? own : await memberOf(own, { roleCode: role });
        return { client: caller.client, sample: await sampleOf(route, { ...own, ...caller }) };
      };

      for (const { route } of endpoints) {
        const needs = promised.get(route)?.needs ?? '';
        if (may(role, needs) && OWNER_ONLY.has(route) && role !== 'owner') {
          it(`${route} is refused with "owner"`, async () => {
            const answer = await send<FrameworkError>((await asRole()).client, route, await sampleOf(route, org));
            expect([answer.status, answer.body]).to.deep.equal([
              403,
              { statusCode: 403, message: `owner is required; your role is "${role}"`, error: 'Forbidden' },
            ]);
          });
        } else if (may(role, needs)) {
          it(`${route} succeeds`, async () => {
            const { client, sample } =
              CHANGES_CALLER.has(route) || ABOUT_CALLER.has(route)
                ? await ofItsOwn(route)
                : { client: (await asRole()).client, sample: await sampleOf(route, org) };
            const answer = await send(client, route, sample);
            expect(answer.status, answer.text).to.be.within(200, 302);
          });
        } else {
          it(`${route} is refused with "${needs}"`, async () => {
            const { client } = await asRole();
            const answer = await send<FrameworkError>(client, route, await sampleOf(route, org));
            expect(answer.status, answer.text).to.equal(403);
            const message = `${needs} is required; your role "${role}" has ${heldOf(role, needs)}`;
            expect(answer.body).to.deep.equal({ statusCode: 403, message, error: 'Forbidden' });
          });

          it(`${route} reveals nothing of its schema or its records`, async () => {
            const { client, token } = await asRole();
            const refused = await send(client, route, await sampleOf(route, org));
            const [method = '', path = ''] = route.split(' ');
            const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
            const bad = [
              send(client, route, withIds(route, NOBODY)),
              send(client, route, withIds(route, 'no-id'), { query: 'surprise=1' }),
              ...(method === 'GET'
                ? []
                : [
                    send(client, route, { body: { surprise: 1 } }),
                    client.raw(`/api/v1${path}`, { method, headers, body: '{"broken' }),
                    client.raw(`/api/v1${path}`, {
                      method,
                      headers: { ...headers, 'Content-Type': 'text/plain' },
                      body: 'x',
                    }),
                  ]),
            ];
            for (const answer of await Promise.all(bad))
              expect([answer.status, answer.text]).to.deep.equal([403, refused.text]);
          });
        }
      }
    });
  }

  for (const { route } of endpoints.filter(({ openQuery }) => openQuery !== true)) {
    it(`${route} validates the request before looking up the record`, async () => {
      const answer = await send(org.client, route, withIds(route, NOBODY), { query: 'surprise=1' });
      expect(answer.status, answer.text).to.equal(400);
    });
  }
});

for (const [edition, planDecides] of Object.entries(EDITIONS)) {
  describe(`every endpoint checks its plan in the edition ${edition}`, () => {
    let server: TestServer;
    const members = new Map<string, { owner: Client; viewer: Client; slug: string }>();
    before(async () => {
      server = await startServer({
        env: { EDITION: edition, LOGIN_FAILURES_PER_ACCOUNT: '0', LOGIN_FAILURES_PER_IP: '0' },
      });
      for (const planCode of Object.keys(PLANS) as (keyof typeof PLANS)[]) {
        const org = await organisation(server, { planCode });
        const { client: viewer } = await memberOf(org, { roleCode: 'viewer' });
        members.set(planCode, { owner: org.client, viewer, slug: org.tenant.slug });
      }
    });
    after(() => server.stop());

    for (const [plan, flags] of Object.entries(PLANS)) {
      for (const { route } of endpoints) {
        const lacking = lackingFeature(route, flags, planDecides);
        it(`${route} ${lacking ? `refuses a tenant on ${plan} for lack of ${lacking}` : `admits a tenant on ${plan}`}`, async () => {
          const { owner, viewer, slug } = members.get(plan) ?? {};
          if (!owner || !viewer) throw new Error(`nobody is on ${plan}`);
          const answer = await send<DomainError>(owner, route, withIds(route, NOBODY), { query: 'surprise=1' });
          if (lacking === undefined) return void expect(answer.status, answer.text).to.equal(400);
          expect(answer.status, answer.text).to.equal(403);
          expect(answer.body.error)
            .to.include({ code: 'PLAN_FEATURE_NOT_ENABLED' })
            .and.to.deep.include({
              details: {
                feature: lacking,
                plans: plansWith(lacking),
                ...(planDecides ? {} : { command: `duebook tenants set-plan ${slug} ${plansWith(lacking)[0]}` }),
              },
            });
          // The plan is checked before the module, so the refusal names the plan's feature if both are missing.
          const both = await send(viewer, route, route.startsWith('GET') ? {} : { body: { surprise: 1 } }, {
            query: 'surprise=1',
          });
          expect([both.status, both.text]).to.deep.equal([answer.status, answer.text]);
        });
      }
    }
  });
}

/** The role's level of the module, as in the message of the refusal. */
function heldOf(role: string, needs: string): string {
  const [module = ''] = needs.split(' ');
  const has = ROLES[role]?.split(' ')[MODULES.indexOf(module)] ?? '';
  return `${module} (${{ E: 'edit', V: 'view' }[has] ?? 'none'})`;
}

const plansWith = (feature: string): string[] =>
  Object.entries(PLANS).flatMap(([plan, flags]) => ((flags as readonly string[]).includes(feature) ? [plan] : []));

function may(role: string, needs: string): boolean {
  if (needs === 'public' || needs === 'bearer') return true;
  const [, module = '', level = ''] = /^(\w+) \((view|edit)\)$/.exec(needs) ?? [];
  const has = ROLES[role]?.split(' ')[MODULES.indexOf(module)];
  return has === 'E' || (has === 'V' && level === 'view');
}

/** `apiAccess` is checked first, for all routes that need a caller outside /auth and /health. */
function lackingFeature(route: string, flags: readonly string[], planDecides: boolean): string | undefined {
  const { needs, feature } = promised.get(route) ?? {};
  const asked = [
    ...(needs === 'public' || !planDecides || / \/(auth|health)(\/|$)/.test(route) ? [] : ['apiAccess']),
    ...(feature ? [feature] : []),
  ];
  return asked.find((flag) => !flags.includes(flag));
}

const withIds = (route: string, id: string) => ({
  params: Object.fromEntries([...route.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, id])),
});
