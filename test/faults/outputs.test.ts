import { expect } from 'chai';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, closeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/guardian.js';
import { COMPILE_CACHE, program } from '../support/programs.js';
import { skip } from '../support/skip.js';

/** A process that waits for its output does so forever. */
const FOREVER_MS = 30_000;

describe('an output that cannot be written', () => {
  let folder: string;
  let full: number;
  const started: ChildProcess[] = [];
  before(async function () {
    if (process.platform !== 'linux') skip(this, 'only Linux has a device that is always full');
    folder = await mkdtemp(join(tmpdir(), 'duebook-'));
    full = openSync('/dev/full', 'w');
  });
  afterEach(async () => {
    for (const child of started.splice(0))
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'close');
      }
  });
  after(async () => {
    if (folder === undefined) return;
    closeSync(full);
    await rm(folder, { recursive: true, force: true });
  });

  const start = (
    args: readonly string[],
    stdio: readonly ['ignore', number | 'pipe', number | 'pipe'],
    env: Readonly<Record<string, string>> = {},
  ): ChildProcess => {
    const [main = '', ...rest] = args;
    const child = spawn(process.execPath, [program(main), ...rest], {
      cwd: folder,
      env: { PATH: process.env['PATH'], ...COMPILE_CACHE, DATA_DIR: join(folder, 'data'), ...env },
      stdio: [...stdio],
    });
    started.push(child);
    return child;
  };

  const exitOf = async (child: ChildProcess): Promise<unknown> => {
    if (child.exitCode !== null) return child.exitCode;
    const stop = new AbortController();
    const limit = setTimeout(() => stop.abort(new Error('the process does not end')), FOREVER_MS);
    try {
      const [code] = (await once(child, 'exit', { signal: stop.signal })) as unknown[];
      return code;
    } finally {
      clearTimeout(limit);
    }
  };

  /** Starts a server and asks for its health until it answers; returns the exit code after SIGTERM. */
  const served = async (
    stdio: readonly ['ignore', number | 'pipe', number | 'pipe'],
    onStart: (child: ChildProcess) => unknown = () => undefined,
  ): Promise<unknown> => {
    const port = await freePort();
    const child = start(['server/main.ts'], stdio, { PORT: String(port) });
    onStart(child);
    for (let isUp = false; !isUp; await sleep(50)) {
      if (child.exitCode !== null) return `ended with ${child.exitCode} before it answered`;
      isUp = await fetch(`http://127.0.0.1:${port}/api/v1/health`).then(
        async (answer) => (await answer.text()).length > 0 && answer.ok,
        () => false,
      );
    }
    const exit = exitOf(child);
    child.kill('SIGTERM');
    return exit;
  };

  it('does not keep a server on a full disk from serving and from ending', async function () {
    this.timeout(4 * FOREVER_MS);
    expect(await served(['ignore', full, full])).to.equal(0);
  });

  it('does not keep a server whose log nobody reads any more from serving and from ending', async function () {
    this.timeout(4 * FOREVER_MS);
    const exit = await served(['ignore', 'pipe', 'pipe'], ({ stdout, stderr }) => {
      stdout?.destroy();
      stderr?.destroy();
    });
    expect(exit).to.equal(0);
  });

  it('has all lines of a server that stops', async () => {
    let log: Promise<string> | undefined;
    const exit = await served(['ignore', 'pipe', full], ({ stdout }) => (log = stdout ? text(stdout) : undefined));
    expect(exit).to.equal(0);
    const lines = (await log)?.trimEnd().split('\n');
    expect(JSON.parse(lines?.at(-1) ?? '')).to.include({ msg: 'stopped' });
  });

  for (const nobody of ['a full disk', 'readers that end']) {
    it(`does not keep a start that fails from ending, on ${nobody}`, async function () {
      this.timeout(2 * FOREVER_MS);
      const onDisk = nobody === 'a full disk';
      const child = start(
        ['data-plane-agent/agent/main.ts', 'run'],
        ['ignore', onDisk ? full : 'pipe', onDisk ? full : 'pipe'],
      );
      child.stdout?.destroy();
      child.stderr?.destroy();
      expect(await exitOf(child)).to.equal(1);
    });
  }

  it('fails a command whose result is lost, and says so', async function () {
    this.timeout(2 * FOREVER_MS);
    const child = start(['cli/main.ts', 'config'], ['ignore', full, 'pipe']);
    const [said, code] = await Promise.all([child.stderr ? text(child.stderr) : '', exitOf(child)]);
    expect(said).to.match(/^The output could not be written: ENOSPC: no space left on device, write$/m);
    expect(said).to.not.include('    at ');
    expect(code).to.equal(1);
  });
});
