import { expect } from 'chai';
import { makeMember, makeTenant, PASSWORD, signIn } from '../support/accounts.js';
import type { DomainError } from '../support/http.js';
import { startServer, type TestServer } from '../support/server.js';

describe('the promotion of a member without a second factor', () => {
  let server: TestServer;
  before(async () => {
    server = await startServer();
  });
  after(() => server.stop());

  it('limits them to /auth where administrators need one, until they enrol at the next sign-in or before', async () => {
    const strict = await startServer({ env: { MFA_REQUIRED_FOR_ADMINS: 'true' } });
    try {
      const made = await makeTenant(strict.services);
      const member = await makeMember(strict.services, made, { roleCode: 'viewer' });
      const { client } = await signIn(strict.client, { ...made, member });
      await strict.services.tenants.members.setRole(
        { tenantId: made.tenant.id, memberId: member.id, roleCode: 'manager' },
        ACTOR,
      );
      expect((await client.get('/auth/me')).status, 'a manager has no administration rights').to.equal(200);
      await strict.services.tenants.members.setRole(
        { tenantId: made.tenant.id, memberId: member.id, roleCode: 'admin' },
        ACTOR,
      );
      expect((await client.get('/auth/me')).status).to.equal(200);
      const shut = await client.get<DomainError>('/tenant-admin/members');
      expect([shut.status, shut.body.error.code]).to.deep.equal([403, 'MFA_ENROLMENT_REQUIRED']);
      const again = await strict.client.post('/auth/login', {
        tenantSlug: made.tenant.slug,
        email: member.email,
        password: PASSWORD,
      });
      expect(again.body).to.include({ mfaRequired: true, enrollmentRequired: true });
    } finally {
      await strict.stop();
    }
  });

  it('leaves their session with the new role otherwise', async () => {
    const made = await makeTenant(server.services);
    const member = await makeMember(server.services, made, { roleCode: 'viewer' });
    const { client } = await signIn(server.client, { ...made, member });
    await server.services.tenants.members.setRole(
      { tenantId: made.tenant.id, memberId: member.id, roleCode: 'admin' },
      ACTOR,
    );
    expect((await client.get('/tenant-admin/members')).status).to.equal(200);
  });
});

const ACTOR = { kind: 'cli', id: null, name: 'operator', ip: null, requestId: 'test-request' } as const;
