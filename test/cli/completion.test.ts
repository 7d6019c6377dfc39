import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAgentProgram } from '../../data-plane-agent/agent/program.js';
import { completionScript, SHELLS } from '../../data-plane-agent/base/command-line/completion/scripts.js';
import { wordsOf } from '../../data-plane-agent/base/command-line/completion/words.js';
import { createIo } from '../../data-plane-agent/base/command-line/io.js';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { PLANS } from '../../server/access/permissions.js';
import { installations, type Installation } from '../support/cli.js';
import { skipUnless } from '../support/needs-programs.js';

/** What a shell offers after these words, of which the last is the one that is completed. */
type Offer = (script: string, words: readonly string[]) => string[];
const linesOf = (run: {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}): string[] => {
  if (run.status !== 0) throw new Error(`${run.status ?? 'no status'}: ${run.stderr}`);
  return run.stdout.split('\n').filter((line) => line !== '');
};

const inBash: Offer = (script, words) =>
  linesOf(
    spawnSync(
      'bash',
      [
        '--norc',
        '-uc',
        'source "$1"; name=$2; shift 2; COMP_WORDS=("$name" "$@"); COMP_CWORD=$#; _${name//-/_}; printf "%s\\n" "${COMPREPLY[@]}"',
        'bash',
        script,
        ...words,
      ],
      { encoding: 'utf8' },
    ),
  );

/** The functions of zsh that show completions exist in its line editor only: these print what they are given. */
const inZsh: Offer = (script, words) =>
  linesOf(
    spawnSync(
      'zsh',
      [
        '-fuc',
        'compdef() { : }; compadd() { shift; print -l -- "$@" }; _files() { print -l FILES }; _describe() { print -l -- ${(P)2%%:*} }; source "$1"; shift; words=("$@"); CURRENT=$#; _${words[1]//-/_}',
        'zsh',
        script,
        ...words,
      ],
      { encoding: 'utf8' },
    ),
  );

const inFish: Offer = (script, words) =>
  linesOf(
    spawnSync('fish', ['--no-config', '-c', 'source $argv[1]; complete -C "$argv[2..]"', script, ...words], {
      encoding: 'utf8',
    }),
  ).map((line) => line.split('\t')[0] ?? '');

describe('duebook completion', () => {
  const install = installations();
  const written = async ({ inProcess, folder }: Installation, shell: string): Promise<string> => {
    const { code, stdout } = await inProcess(['completion', shell]);
    expect(code).to.equal(0);
    const path = join(folder, `completion.${shell}`);
    writeFileSync(path, stdout);
    return path;
  };

  for (const [shell, offer] of [
    ['bash', inBash],
    ['zsh', inZsh],
    ['fish', inFish],
  ] as const) {
    it(`offers commands, options, values and files in ${shell}`, async function () {
      skipUnless(this, shell);
      const installation = await install();
      const script = await written(installation, shell);
      const offered = (...words: string[]) => offer(script, ['duebook', ...words]);
      expect(offered('')).to.include.members(['doctor', 'tenants', 'completion']).and.not.include('set-plan');
      expect(offered('tenants', '')).to.include.members(['list', 'show', 'set-plan']).and.not.include('doctor');
      expect(offered('codes', 'issue', '--')).to.include.members(['--plan', '--count', '--json', '--help']);
      expect(offered('codes', 'issue', '--plan', '')).to.have.members(PLANS);
      expect(offered('codes', 'issue', '--plan', 'pro', '--')).to.include('--expires');
      expect(offered('codes', 'issue', '--count', '')).not.to.include('--plan');
      expect(offered('tenants', 'set-plan', 'acme', '')).to.include.members(PLANS);
      const file = join(installation.folder, 'completion.');
      const files = offered('import', '--tenant', 'acme', file);
      expect(files).to.include(shell === 'zsh' ? 'FILES' : script);
      expect(offered('completion', '')).to.include.members([...SHELLS]);
      expect(offered('export', '--out', file)).to.deep.equal([shell === 'zsh' ? 'FILES' : script]);
    });
  }

  it('narrows the words to what has been typed, also after an equals sign', async function () {
    skipUnless(this, 'bash');
    const script = await written(await install(), 'bash');
    expect(inBash(script, ['duebook', 'do'])).to.deep.equal(['doctor']);
    // bash splits the line at `=`.
    expect(inBash(script, ['duebook', 'codes', 'issue', '--plan', '=', 'bus'])).to.deep.equal(['business']);
    expect(inBash(script, ['duebook', 'codes', 'issue', '--plan', '='])).to.have.members(PLANS);
    expect(inBash(script, ['duebook', 'nonsense', 'x'])).to.deep.equal([]);
  });

  it('answers in JSON, and refuses a shell that it does not know', async () => {
    const { inProcess } = await install();
    const { stdout } = await inProcess(['completion', 'fish', '--json']);
    const answer = JSON.parse(stdout) as { shell: string; script: string };
    expect([answer.shell, answer.script.includes('complete -c duebook')]).to.deep.equal(['fish', true]);
    expect((await inProcess(['completion', 'tcsh'])).code).to.equal(2);
  });

  it('completes the commands of the agent too', async function () {
    skipUnless(this, 'bash');
    const program = createAgentProgram(
      {
        io: createIo(process),
        clock: systemClock,
        env: () => ({}),
        nodeVersion: process.versions.node,
        process,
        residentBytes: () => 0,
      },
      { json: false },
    );
    const { folder } = await install();
    const path = join(folder, 'agent.bash');
    writeFileSync(path, completionScript('bash', 'duebook-agent', wordsOf(program)));
    expect(inBash(path, ['duebook-agent', 'audit', ''])).to.include('verify');
    expect(inBash(path, ['duebook-agent', 'join', '--token-file', path])).to.deep.equal([path]);
  });
});
