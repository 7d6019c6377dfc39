import { expect } from 'chai';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyIdOf } from '../../data-plane-agent/base/link/keys.js';
import { linkedTenant } from '../support/agent.js';
import { openJoiningPlane, startAgent, type JoiningPlane } from '../support/agent-program.js';
import type { Outcome } from '../support/cli.js';

describe('duebook-agent join, rejoin and rotate-key', () => {
  let cwd: string;
  let dataDir: string;
  let plane: JoiningPlane;
  let tokenFile: string;

  beforeEach(async () => {
    cwd = mkdtempSync(join(tmpdir(), 'duebook-join-'));
    dataDir = join(cwd, 'data');
    plane = await openJoiningPlane();
    tokenFile = join(cwd, 'token');
    writeFileSync(tokenFile, `${plane.token}\n`);
  });
  afterEach(async () => {
    await plane.close();
    rmSync(cwd, { recursive: true, force: true });
  });

  const agent = (
    args: readonly string[],
    { env = {}, input }: { readonly env?: Readonly<Record<string, string>>; readonly input?: string } = {},
  ): Promise<Outcome> =>
    startAgent(args, { cwd, env: { DATA_DIR: dataDir, ...env }, ...(input === undefined ? {} : { input }) }).ended;
  const joining = (options: Parameters<typeof agent>[1] = {}, ...more: readonly string[]) =>
    agent(['join', '--control-plane', plane.origin, ...more], options);
  const stored = (name: string): Record<string, unknown> =>
    JSON.parse(readFileSync(join(dataDir, 'identity', name), 'utf8')) as Record<string, unknown>;
  const codeOf = ({ stderr }: Outcome): string =>
    (JSON.parse(stderr) as { error: { code: string; message: string } }).error.code;

  it('joins with the token of a file, and says what is next', async () => {
    const { code, stdout, stderr } = await joining({}, '--token-file', tokenFile);
    expect(code, stderr).to.equal(0);
    expect(stdout).to.match(/^Joined http.* for the organisation acme \(connection [0-9a-f-]{36}\)\.\n$/);
    expect(stderr).to.contain('duebook-agent run');
    const [key] = plane.keys;
    expect(key && (await keyIdOf(key))).to.equal((stored('key.json')['current'] as { kid: string }).kid);
    expect(existsSync(join(dataDir, 'identity', 'joining.json'))).to.equal(false);
    expect(`${stdout}${stderr}`).not.to.contain(plane.token);
  });

  it('takes the token from standard input, and from the environment', async () => {
    const piped = await joining({ input: `${plane.token}\n` }, '--token-file', '-', '--json');
    expect(JSON.parse(piped.stdout)).to.deep.include({ controlPlane: plane.origin, accessMode: 'direct' });
    rmSync(dataDir, { recursive: true });
    const inherited = await joining({ env: { DUEBOOK_JOIN_TOKEN: plane.token } });
    expect(inherited.code, inherited.stderr).to.equal(0);
    expect(inherited.stderr).not.to.contain('is not a setting');
  });

  it('refuses to join without a token, with two, and over http to another machine', async () => {
    const cases: readonly (readonly [readonly string[], Readonly<Record<string, string>>, string])[] = [
      [['--control-plane', plane.origin], {}, 'a join token is required'],
      [['--control-plane', plane.origin, '--token-file', tokenFile], { DUEBOOK_JOIN_TOKEN: 'x' }, 'given twice'],
      [['--control-plane', plane.origin, '--token-file', join(cwd, 'none')], {}, 'ENOENT'],
      [['--control-plane', 'http://192.0.2.1', '--token-file', tokenFile], {}, '--allow-http'],
      [
        ['--control-plane', 'http://192.0.2.1', '--token-file', tokenFile, '--allow-http'],
        { NODE_ENV: 'production' },
        'must begin with https: in production',
      ],
      [['--control-plane', 'https://a.test/path', '--token-file', tokenFile], {}, 'must be an origin'],
      [['--control-plane', 'duebook', '--token-file', tokenFile], {}, 'must be an https URL'],
      [['--token-file', tokenFile], {}, '--control-plane'],
    ];
    for (const [args, env, said] of cases) {
      const { code, stderr } = await agent(['join', ...args], { env });
      expect([code, stderr]).to.satisfy(([exit, text]: [number, string]) => exit === 2 && text.includes(said), said);
    }
    expect(plane.requests).to.deep.equal([]);
    expect(existsSync(join(dataDir, 'identity', 'connection.json'))).to.equal(false);
  });

  it("passes on the control plane's refusal, and can be repeated", async () => {
    plane.next = 'refuse';
    const refused = await joining({}, '--token-file', tokenFile, '--json');
    expect([refused.code, codeOf(refused)]).to.deep.equal([1, 'JOIN_TOKEN_INVALID']);
    expect(existsSync(join(dataDir, 'identity', 'joining.json'))).to.equal(false);
    plane.next = 'normal';
    expect((await joining({}, '--token-file', tokenFile)).code).to.equal(0);
  });

  it('says that a new token is needed when the answer was lost or is something else', async () => {
    for (const next of ['drop', 'nonsense'] as const) {
      plane.next = next;
      const lost = await joining({}, '--token-file', tokenFile, '--json');
      expect([lost.code, codeOf(lost)]).to.deep.equal([1, 'JOIN_OUTCOME_UNKNOWN']);
      expect(lost.stderr).to.contain('create a new one');
    }
    const started = await agent(['run', '--json']);
    expect([started.code, codeOf(started)]).to.deep.equal([1, 'JOIN_INTERRUPTED']);
    plane.next = 'normal';
    expect((await joining({}, '--token-file', tokenFile)).code).to.equal(0);
  });

  it('names the cause when the control plane cannot be reached, and the difference when clocks differ', async () => {
    await plane.close();
    const unreachable = await joining({}, '--token-file', tokenFile);
    expect([unreachable.code, unreachable.stderr.includes('the connection was refused')]).to.deep.equal([1, true]);
    plane = await openJoiningPlane();
    plane.aheadMs = 300_000;
    const skewed = await joining({}, '--token-file', tokenFile, '--json');
    expect([skewed.code, codeOf(skewed)]).to.deep.equal([1, 'CLOCK_SKEW']);
    expect(skewed.stderr).to.match(/(299|300|301) s behind the control plane's/);
    expect(plane.requests).to.deep.equal(['/link/v1/challenge']);
  });

  it('joins once; rejoin keeps the connection and the data, and only for the same organisation', async () => {
    await joining({}, '--token-file', tokenFile);
    const again = await joining({}, '--token-file', tokenFile, '--json');
    expect([again.code, codeOf(again)]).to.deep.equal([1, 'ALREADY_JOINED']);
    const before = stored('key.json');
    const rejoined = await agent(['rejoin', '--token-file', tokenFile]);
    expect(rejoined.code, rejoined.stderr).to.equal(0);
    expect(stored('key.json')['instanceId']).not.to.equal(before['instanceId']);
    const other = await openJoiningPlane({ tenant: linkedTenant() });
    try {
      const refused = await agent(['rejoin', '--control-plane', other.origin, '--token-file', tokenFile, '--json']);
      expect([refused.code, codeOf(refused)]).to.deep.equal([1, 'OTHER_ORGANISATION']);
      expect(stored('connection.json')['controlPlane']).to.equal(plane.origin);
    } finally {
      await other.close();
    }
    rmSync(join(dataDir, 'identity'), { recursive: true });
    const never = await agent(['rejoin', '--token-file', tokenFile, '--json']);
    expect([never.code, codeOf(never)]).to.deep.equal([1, 'NOT_JOINED']);
  });

  it('does nothing with --unless-joined once it has joined, without a token, and refuses another control plane', async () => {
    const first = await joining({}, '--unless-joined', '--token-file', tokenFile);
    expect(first.code, first.stderr).to.equal(0);
    const connection = stored('connection.json');
    const requests = plane.requests.length;
    rmSync(tokenFile);
    const again = await joining({}, '--unless-joined', '--token-file', tokenFile, '--json');
    expect(again.code, again.stderr).to.equal(0);
    expect(JSON.parse(again.stdout)).to.deep.equal({
      connectionId: connection['connectionId'],
      controlPlane: plane.origin,
      accessMode: 'direct',
      alreadyJoined: true,
    });
    const elsewhere = await agent([
      'join',
      '--unless-joined',
      '--control-plane',
      'https://other.test',
      '--token-file',
      tokenFile,
      '--json',
    ]);
    expect([elsewhere.code, codeOf(elsewhere)]).to.deep.equal([1, 'ALREADY_JOINED']);
    expect([stored('connection.json'), plane.requests.length]).to.deep.equal([connection, requests]);
    rmSync(dataDir, { recursive: true });
    const without = await joining({}, '--unless-joined', '--token-file', tokenFile);
    expect([without.code, without.stderr]).to.satisfy(
      ([exit, text]: [number, string]) => exit === 2 && text.includes('ENOENT'),
    );
  });

  it('replaces its key, and completes a rotation whose answer was lost', async () => {
    expect(codeOf(await agent(['rotate-key', '--json']))).to.equal('NOT_JOINED');
    await joining({}, '--token-file', tokenFile);
    const kid = () => (stored('key.json')['current'] as { kid: string }).kid;
    const first = kid();
    const rotated = await agent(['rotate-key', '--json']);
    expect(rotated.code, rotated.stderr).to.equal(0);
    expect((JSON.parse(rotated.stdout) as { kid: string }).kid).to.equal(kid());
    const second = kid();
    expect(second).not.to.equal(first);
    plane.next = 'drop';
    const lost = await agent(['rotate-key', '--json']);
    expect([lost.code, codeOf(lost), kid()]).to.deep.equal([1, 'UNREACHABLE', second]);
    plane.next = 'normal';
    expect((await agent(['rotate-key'])).code).to.equal(0);
    expect([second === kid(), stored('key.json')['next']]).to.deep.equal([false, null]);
  });
});
