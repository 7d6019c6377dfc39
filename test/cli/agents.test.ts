import { expect } from 'chai';
import { join } from 'node:path';
import { isId } from '../../data-plane-agent/base/ids.js';
import { generateKeyRingText } from '../../data-plane-agent/base/secrets.js';
import { fakeClock } from '../support/clock.js';
import { installations, type Installation, type Outcome } from '../support/cli.js';
import { aJoiningAgent, joinWith } from '../support/joining.js';
import { startServer } from '../support/server.js';
import { read } from '../support/source.js';

const PASSWORD = 'Correct-Horse-42';
const HYBRID = {
  EDITION: 'enterprise_hybrid',
  PUBLIC_URL: 'https://book.example.com',
  SECRET_KEYS: generateKeyRingText(),
};
const json = <T>({ stdout }: Outcome): T => JSON.parse(stdout) as T;
const errorOf = ({ code, stderr }: Outcome): unknown[] => [
  code,
  (JSON.parse(stderr) as { error: { code: string } }).error.code,
];
interface Invited {
  readonly connectionId: string;
  readonly joinToken: string;
  readonly joinCommand: string;
}
interface Listed {
  readonly connections: { id: string; kind: string; status: string; accessMode: string; endpoint: string | null }[];
}

describe('duebook agents', () => {
  const install = installations();

  const acme = async (): Promise<Installation> => {
    const installation = await install();
    await installation.inProcess(
      ['bootstrap', '--tenant-slug', 'acme', '--tenant-name', 'Acme', '--email', 'ann@acme.example', '--name', 'Ann'],
      { env: HYBRID, input: PASSWORD },
    );
    return installation;
  };
  const invite = ['agents', 'invite', '--tenant', 'acme'];

  it('invites an agent: a token once, and the command that reads it from standard input', async () => {
    const { inProcess } = await acme();
    const outcome = await inProcess([...invite, '--json'], { env: HYBRID });
    expect([outcome.code, outcome.stderr]).to.deep.equal([0, '']);
    const invited = json<Invited>(outcome);
    expect(invited).to.have.all.keys('connectionId', 'joinToken', 'joinCommand');
    expect(isId(invited.connectionId)).to.equal(true);
    expect(invited.joinToken).to.match(/^dpj_[A-Za-z0-9_-]{43}$/);
    expect(invited.joinCommand).to.equal('duebook-agent join --control-plane https://book.example.com --token-file -');
    const listed = await inProcess(['agents', 'list', '--tenant', 'acme', '--json'], { env: HYBRID });
    expect(json<Listed>(listed).connections.map(({ id, kind, status }) => [id, kind, status])).to.deep.equal([
      [invited.connectionId, 'agent', 'pending'],
    ]);
    expect(listed.stdout).not.to.contain(invited.joinToken);
  });

  it('prints the token alone on standard output, so that it can be redirected to a file', async () => {
    const { inProcess } = await acme();
    const { stdout, stderr } = await inProcess(invite, { env: HYBRID });
    expect(stdout).to.match(/^dpj_[A-Za-z0-9_-]{43}\n$/);
    expect(stderr).to.contain('not shown again').and.to.contain('duebook-agent join --control-plane');
    expect(stderr).not.to.contain('dpj_');
  });

  it('keeps the id and what was declared when it invites again', async () => {
    const { inProcess } = await acme();
    const first = json<Invited>(
      await inProcess([...invite, '--access-mode', 'direct', '--endpoint', 'https://agent.acme.example', '--json'], {
        env: HYBRID,
      }),
    );
    const second = json<Invited>(await inProcess([...invite, '--json'], { env: HYBRID }));
    expect([second.connectionId, second.joinToken === first.joinToken]).to.deep.equal([first.connectionId, false]);
    const {
      connections: [agent],
    } = json<Listed>(await inProcess(['agents', 'list', '--tenant', 'acme', '--json'], { env: HYBRID }));
    expect([agent?.accessMode, agent?.endpoint]).to.deep.equal(['direct', 'https://agent.acme.example']);
    const bad = await inProcess([...invite, '--endpoint', 'http://agent.acme.example'], { env: HYBRID });
    expect([bad.code, bad.stderr.includes('endpoint')]).to.deep.equal([1, true]);
  });

  it('invites an agent that then joins a running server, and revokes it', async () => {
    const installation = await acme();
    const clock = fakeClock(Date.now());
    const { inProcess } = installation;
    const env = { ...HYBRID, DATA_DIR: installation.dataDir };
    const { joinToken } = json<Invited>(await inProcess([...invite, '--json'], { env }));
    const server = await startServer({ clock, env });
    try {
      const { status } = await joinWith(server.client, await aJoiningAgent(), { joinToken, clock });
      expect(status).to.equal(200);
    } finally {
      await server.stop();
    }
    const text = await inProcess(['agents', 'list', '--tenant', 'acme'], { env, clock });
    expect(text.stdout).to.match(/agent +disconnected .* 1\.2\.3 /);

    const revoke = ['agents', 'revoke', '--tenant', 'acme'];
    expect((await inProcess(revoke, { env, answers: ['n'] })).code).to.equal(1);
    expect((await inProcess(revoke, { env, answers: ['y'] })).stdout).to.equal('Revoked the agent of acme.\n');
    expect(errorOf(await inProcess([...revoke, '--json'], { env }))).to.deep.equal([1, 'NOT_FOUND']);
    const after = json<Listed>(await inProcess(['agents', 'list', '--tenant', 'acme', '--json'], { env }));
    expect(after.connections.map(({ status }) => status)).to.deep.equal(['revoked']);
  });

  it('refuses an unknown organisation, and editions without agents', async () => {
    const { inProcess } = await acme();
    for (const command of ['invite', 'list', 'revoke']) {
      const asked = ['agents', command, '--json', '--tenant'];
      expect(errorOf(await inProcess([...asked, 'nobody'], { env: HYBRID })), command).to.deep.equal([1, 'NOT_FOUND']);
      const elsewhere = await inProcess([...asked, 'acme'], { env: { ...HYBRID, EDITION: 'saas' } });
      expect(errorOf(elsewhere), command).to.deep.equal([1, 'AGENTS_NOT_USED']);
      expect(elsewhere.stderr).to.contain('EDITION=saas');
    }
  });

  it('has examples in its help that work', async () => {
    const { inProcess } = await acme();
    const golden = read(join('test', 'cli', 'golden', 'agents-invite.txt'));
    const lines = [...golden.matchAll(/^ {2}\$ duebook (.+)$/gm)].map(([, line = '']) => line.replace(/ > .*$/, ''));
    expect(lines.length).to.be.greaterThan(1);
    for (const line of lines) expect((await inProcess(line.split(' '), { env: HYBRID })).code, line).to.equal(0);
  });
});
