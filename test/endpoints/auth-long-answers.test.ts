import { expect } from 'chai';
import { get } from 'node:http';
import { edit } from '../../server/access/permissions.js';
import { endpoint } from '../../server/http/endpoint.js';
import { attachment, fileOf } from '../../server/http/reply.js';
import {
  makeMember,
  makeTenant,
  OPERATOR,
  serveIdentity,
  signIn,
  startIdentity,
  type MadeTenant,
  type TestIdentity,
} from '../support/accounts.js';
import { forEachDatabase } from '../support/database.js';
import type { LittleApp } from '../support/little-app.js';

const MINUTE_MS = 60_000;

interface Member {
  readonly tenantId: string;
  readonly memberId: string;
}

describe('a file that is sent in chunks', () => {
  forEachDatabase((_kind, fresh) => {
    let identity: TestIdentity;
    let app: LittleApp;
    let org: MadeTenant;
    /** Runs between the first chunk and the second. */
    let meanwhile: () => Promise<unknown>;
    const drip = endpoint('GET /drip', {
      summary: 'Drip',
      needs: edit('export'),
      produces: 'text/csv',
      returns: fileOf('text/csv', 'Two rows.'),
      fails: [],
      run: () => Promise.resolve(attachment(rows(), { fileName: 'rows.csv' })),
    });
    async function* rows(): AsyncGenerator<string, void, void> {
      yield 'first\r\n';
      await meanwhile();
      yield 'second\r\n';
    }
    before(async () => {
      identity = await startIdentity((await fresh()).database);
      app = await serveIdentity(identity, { more: { drip } });
      org = await makeTenant(identity);
    });
    after(() => app.stop());

    /** The received bytes, and whether the response was complete. */
    const read = (token: string): Promise<{ text: string; whole: boolean }> =>
      new Promise((resolve, reject) => {
        get(`${app.client.base}/drip`, { headers: { Authorization: `Bearer ${token}` }, agent: false }, (answer) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          answer.on('error', () => undefined);
          answer.on('close', () => resolve({ text, whole: answer.complete }));
        }).on('error', reject);
      });
    const entered = async (): Promise<{ member: Member; token: string }> => {
      const member = await makeMember(identity, org, { roleCode: 'finance' });
      return {
        member: { tenantId: org.tenant.id, memberId: member.id },
        token: (await signIn(app.client, { tenant: org.tenant, member })).result.accessToken,
      };
    };

    for (const { what, change } of [
      {
        what: 'is disabled',
        change: (member: Member) => identity.tenants.members.setStatus({ ...member, status: 'disabled' }, OPERATOR),
      },
      {
        what: 'has their sessions ended',
        change: (member: Member) => identity.tenants.members.endSessions(member, OPERATOR),
      },
      {
        what: 'gets another role that exports too',
        change: (member: Member) => identity.tenants.members.setRole({ ...member, roleCode: 'manager' }, OPERATOR),
      },
      {
        what: 'sees fewer subject companies',
        change: (member: Member) => identity.tenants.members.setScope({ ...member, subjectScope: [] }, OPERATOR),
      },
    ]) {
      it(`is cut off when its reader ${what}`, async () => {
        const { member, token } = await entered();
        meanwhile = () => change(member);
        expect(await read(token)).to.deep.equal({ text: 'first\r\n', whole: false });
      });
    }

    it('continues if nothing has changed, even after the token has expired', async () => {
      const { token } = await entered();
      meanwhile = () => Promise.resolve(identity.clock.advance(16 * MINUTE_MS));
      expect(await read(token)).to.deep.equal({ text: 'first\r\nsecond\r\n', whole: true });
    });
  });
});
