import { expect } from 'chai';
import { connect } from 'node:net';
import { makeMember, makeTenant, PASSWORD, signIn, type MadeTenant } from '../support/accounts.js';
import type { Client } from '../support/http.js';
import { aContract } from '../support/samples.js';
import { forEachServer } from '../support/server.js';

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

interface Parked {
  readonly token: string;
  readonly line: string;
  readonly body: string;
  /** Sent in chunks without a length; the client delays the last one. */
  readonly chunked?: boolean;
}

/**
 * Sends the head, waits until the service requests the body, runs `meanwhile`, then sends the body. Returns the status.
 */
function park(
  origin: string,
  { token, line, body, chunked = false }: Parked,
  meanwhile: () => Promise<unknown>,
): Promise<number> {
  const { hostname, port } = new URL(origin);
  const length = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${Buffer.byteLength(body)}`;
  const rest = chunked
    ? `${body === '' ? '' : `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`}0\r\n\r\n`
    : body;
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let said = '';
    let asked = false;
    socket.on('connect', () =>
      socket.write(
        `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${length}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`,
      ),
    );
    socket.on('data', (chunk) => {
      said += chunk.toString();
      if (asked || !said.startsWith(CONTINUE)) return;
      asked = true;
      meanwhile().then(() => socket.write(rest), reject);
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(said.replace(CONTINUE, ''))?.[1])));
  });
}

describe('a request whose body arrives after the session ended or the rights were removed', () => {
  forEachServer((server) => {
    let org: MadeTenant;
    let owner: Client;
    let contractId: string;
    before(async () => {
      org = await makeTenant(server().services);
      owner = (await signIn(server().client, { tenant: org.tenant, member: org.owner })).client;
      contractId = (
        await owner.post<{ id: string }>(
          '/contracts',
          aContract({ subjectId: org.subjectId, ownerId: org.owner.id, projectName: 'Untouched' }),
        )
      ).body.id;
    });

    const ENDS: readonly {
      readonly what: string;
      readonly status: number;
      readonly end: (memberId: string, token: string) => Promise<{ status: number }>;
    }[] = [
      {
        what: 'is disabled',
        status: 401,
        end: (id) => owner.patch(`/tenant-admin/members/${id}`, { status: 'disabled' }),
      },
      {
        what: 'loses the role',
        status: 403,
        end: (id) => owner.patch(`/tenant-admin/members/${id}`, { roleCode: 'viewer' }),
      },
      {
        what: 'has their sessions ended',
        status: 401,
        end: (id) => owner.delete(`/tenant-admin/members/${id}/sessions`),
      },
      { what: 'signs out', status: 401, end: (_id, token) => server().client.as(token).post('/auth/logout') },
    ];
    for (const { what, status, end } of ENDS) {
      it(`is refused if its sender ${what} meanwhile`, async () => {
        const channels = async () => (await owner.get<unknown[]>('/tenant-admin/notification-channels')).body.length;
        const [accomplice, before] = [await makeMember(server().services, org), await channels()];
        for (const request of [
          { line: `PATCH /api/v1/contracts/${contractId}`, body: JSON.stringify({ projectName: 'Changed' }) },
          {
            line: 'POST /api/v1/tenant-admin/notification-channels',
            body: JSON.stringify({ kind: 'email', name: 'Copies', target: 'eve@evil.test' }),
          },
          { line: `PATCH /api/v1/tenant-admin/members/${accomplice.id}`, body: JSON.stringify({ roleCode: 'admin' }) },
          { line: `DELETE /api/v1/contracts/${contractId}`, body: '', chunked: true },
          { line: `GET /api/v1/tenant-admin/members`, body: '', chunked: true },
        ]) {
          const admin = await makeMember(server().services, org, { roleCode: 'admin' });
          const { result } = await signIn(server().client, { tenant: org.tenant, member: admin, password: PASSWORD });
          const answered = await park(server().client.origin, { ...request, token: result.accessToken }, async () =>
            expect((await end(admin.id, result.accessToken)).status).to.equal(200),
          );
          expect(answered, request.line).to.equal(status);
        }
        expect((await owner.get<{ projectName: string }>(`/contracts/${contractId}`)).body.projectName).to.equal(
          'Untouched',
        );
        expect(await channels()).to.equal(before);
      });
    }

    it('succeeds if nothing has changed', async () => {
      const { result } = await signIn(server().client, { tenant: org.tenant, member: org.owner });
      const status = await park(
        server().client.origin,
        {
          token: result.accessToken,
          line: `PATCH /api/v1/contracts/${contractId}`,
          body: JSON.stringify({ remark: 'slowly' }),
        },
        () => Promise.resolve(),
      );
      expect(status).to.equal(200);
    });
  });
});
