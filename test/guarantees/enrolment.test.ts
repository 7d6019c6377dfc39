import { expect } from 'chai';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import type { Endpoint } from '../../server/http/endpoint.js';
import type { AuthLoginResult } from '../../server/auth/auth.schemas.js';
import { PASSWORD, uniqueSlug } from '../support/accounts.js';
import type { Client, DomainError } from '../support/http.js';
import { startServer, type TestServer } from '../support/server.js';
import { send } from './requests.js';

const endpoints: readonly Endpoint[] = Object.values(ENDPOINTS).filter(({ needs }) => needs !== 'public');
const NOBODY = '01890000-0000-7000-8000-0000000000ff';

describe('every endpoint checks the second factor that the policy requires', () => {
  let server: TestServer;
  let client: Client;
  let token: string;
  before(async () => {
    // On a plan without any feature, in an edition with plans: this refusal takes precedence over that of the plan.
    server = await startServer({
      env: { EDITION: 'saas', MFA_REQUIRED_FOR_ADMINS: 'true', PUBLIC_REGISTRATION_ENABLED: 'true' },
    });
    const slug = uniqueSlug();
    const { body } = await server.client.post<AuthLoginResult>('/auth/register', {
      tenantName: 'Acme',
      tenantSlug: slug,
      adminName: 'Ann',
      email: `ann@${slug}.test`,
      password: PASSWORD,
    });
    token = body.accessToken;
    client = server.client.as(token);
  });
  after(() => server.stop());

  for (const { route } of endpoints) {
    const params = Object.fromEntries([...route.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, NOBODY]));
    if (/^\w+ \/auth\//.test(route)) {
      it(`${route} is available to members who must enrol`, async () => {
        // Admitted, and then refused for its content.
        const { status, text } = await send(client, route, { params }, { query: 'surprise=1' });
        expect(status, text).to.equal(400);
      });
    } else {
      it(`${route} is refused to members who must enrol, whatever the plan, the request and the record`, async () => {
        const [method = '', path = ''] = route.split(' ');
        const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
        const answers = [
          await send<DomainError>(client, route, { params }),
          await send<DomainError>(
            client,
            route,
            {
              params: Object.fromEntries(Object.keys(params).map((name) => [name, 'no-id'])),
              ...(method === 'GET' ? {} : { body: { surprise: 1 } }),
            },
            { query: 'surprise=1' },
          ),
          ...(method === 'GET'
            ? []
            : [await client.raw<DomainError>(`/api/v1${path}`, { method, headers, body: '{"broken' })]),
        ];
        for (const { status, body, text } of answers)
          expect([status, body.error?.code], text).to.deep.equal([403, 'MFA_ENROLMENT_REQUIRED']);
      });
    }
  }
});
