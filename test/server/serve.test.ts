import { expect } from 'chai';
import { forEachServer } from '../support/server.js';

describe('the composed service', () => {
  forEachServer((server, kind) => {
    it('answers its probes and its health', async () => {
      const { client } = server();
      expect((await client.raw('/livez')).body).to.deep.equal({ status: 'ok' });
      expect((await client.raw('/readyz')).status).to.equal(200);
      const health = await client.get<Record<string, string>>('/health');
      expect(health.status).to.equal(200);
      expect(health.body).to.include({ status: 'ok', edition: 'self_hosted', platformDb: 'up', tenantDb: 'up' });
      expect(Object.keys(health.body)).to.have.members(['status', 'edition', 'platformDb', 'tenantDb', 'time', 'isolate']);
    });

    it('shows the public signing key and no private one', async () => {
      const { body } = await server().client.raw<{ keys: Record<string, string>[] }>('/.well-known/jwks.json');
      expect(body.keys).to.have.length(1);
      expect(body.keys[0]).to.include({ kty: 'OKP', crv: 'Ed25519' });
      expect(body.keys[0]).not.to.have.property('d');
    });

    it('registers an organisation and lets its owner in', async () => {
      const registered = await server().client.post<{ accessToken: string }>('/auth/register', {
        tenantName: 'Acme Leasing', tenantSlug: `acme-${kind}`, adminName: 'Ann', email: 'Ann@Acme.test', password: 'correct horse battery', planCode: 'free',
      });
      expect(registered.status, registered.text).to.equal(201);
      expect(registered.headers.get('set-cookie')).to.match(/^service_tenant_refresh=[^;]+; Path=\/api\/v1\/auth; Max-Age=2592000; HttpOnly; SameSite=Strict$/);
      const me = await server().client.as(registered.body.accessToken).get('/auth/me');
      expect(me.status, me.text).to.equal(200);
    });
  });
});
