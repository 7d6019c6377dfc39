import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createIo, type Io, type Streams } from '../../data-plane-agent/base/command-line/io.js';
import { installations } from '../support/cli.js';

const EMAIL = 'ann@acme.example';
const PASSWORD = 'Correct-Horse-42';
/**
 * Characters that control terminals: ESC and C1 sequences for colours and titles, bidirectional control characters,
 * line separators; and invisible characters.
 */
const STEERING = [
  '\u0000',
  '\u0007',
  '\b',
  '\r',
  '\u001b[2J',
  '\u001b]0;title\u0007',
  '\u007f',
  '\u0085',
  '\u009b31m',
  '\u061c',
  '\u200e',
  '\u200f',
  '\u2028',
  '\u2029',
  '\u202a',
  '\u202b',
  '\u202c',
  '\u202d',
  '\u202e',
  '\u2066',
  '\u2067',
  '\u2068',
  '\u2069',
  '\u200b',
  '\u2060',
  '\u2064',
  '\u206a',
  '\u206f',
  '\ufeff',
  '\ufff9',
  '\ufffb',
  '\u{e0001}',
  '\u{e0041}',
];
const STEERS =
  /(?!\n)[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/u;
const NASTY = STEERING.join('x');
const FINE = 'می\u200cخواهم 👩\u200d🔧 上海 – é';

describe('the output of the command line', () => {
  const install = installations();

  describe('on its streams', () => {
    const streams = (isTTY: boolean) => {
      const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()].map((stream) =>
        Object.assign(stream, { isTTY, columns: 80 }),
      );
      return { stdin, stdout, stderr } as unknown as Streams;
    };
    const reported = ({ stdout, stderr }: Streams) =>
      String((stdout as unknown as PassThrough).read() ?? '') + String((stderr as unknown as PassThrough).read() ?? '');
    const ways: Readonly<Record<string, (io: Io, text: string) => unknown>> = {
      data: (io, text) => io.data(text),
      message: (io, text) => io.message(text),
      progress: (io, text) => io.progress(text),
      question: (io, text) => void io.ask(text),
    };

    for (const [way, print] of Object.entries(ways)) {
      it(`${way}: stored control characters are escaped, and everything else is unchanged`, () => {
        for (const text of STEERING) {
          const there = streams(true);
          print(createIo(there), `a${text}b`);
          // The line editor and the progress line add control sequences around the text.
          const said = reported(there);
          expect(said, JSON.stringify(text)).not.to.contain(`a${text}`);
          expect(said).to.match(/a(\\u[0-9a-f]{4}|[^\p{Cc}])+b/u);
        }
        const there = streams(true);
        print(createIo(there), FINE);
        expect(reported(there)).to.contain(FINE);
      });
    }

    it('keeps line breaks', () => {
      const there = streams(false);
      createIo(there).data('one\ntwo');
      expect(reported(there)).to.equal('one\ntwo\n');
    });

    it('has the same values as JSON, with control characters escaped', () => {
      const there = streams(false);
      createIo(there).data(JSON.stringify({ name: NASTY, fine: FINE }, null, 2));
      const text = reported(there);
      expect(text).not.to.match(STEERS);
      expect(JSON.parse(text)).to.deep.equal({ name: NASTY, fine: FINE });
    });

    it('is unchanged when piped to a program, and escaped on a terminal', async () => {
      const file = 'a;\t\u202e\r\nb\u001b[2J\rc\r\n';
      const [pipe, terminal] = [streams(false), streams(true)];
      await createIo(pipe).write(file);
      await createIo(terminal).write(file);
      expect(reported(pipe)).to.equal(file);
      expect(reported(terminal)).to.equal('a;\t\\u202e\r\nb\\u001b[2J\\u000dc\r\n');
    });
  });

  it('a name stored before names were validated cannot control a terminal or add lines', async () => {
    const { cli, dataDir } = await install();
    await cli(['bootstrap', '--tenant-slug', 'acme', '--tenant-name', 'ACME', '--email', EMAIL, '--name', 'Ann Lee'], {
      input: PASSWORD,
    });
    const name = `${NASTY}\nbolt  Bolt  enterprise  active`;
    const file = new Sqlite(join(dataDir, 'platform.db'));
    try {
      file.prepare('UPDATE tenants SET name = ?').run(name);
      file.prepare('UPDATE members SET name = ?').run(name);
    } finally {
      file.close();
    }
    for (const args of [
      ['tenants', 'list'],
      ['tenants', 'show', 'acme'],
      ['members', 'list', '--tenant', 'acme'],
    ]) {
      const [text, json] = [await cli(args), await cli([...args, '--json'])];
      expect(text.stdout, args.join(' ')).not.to.match(STEERS);
      expect(text.stdout).to.contain('\\u001b[2J').and.not.to.match(/^bolt/m);
      expect(json.stdout).not.to.match(STEERS);
      expect(JSON.stringify(JSON.parse(json.stdout)), 'and JSON says the very name').to.contain(JSON.stringify(name));
    }
  });

  it('refuses a name with control characters, and names the argument', async () => {
    const { cli, inProcess } = await install();
    for (const name of ['Ann\u202eeeL', 'Ann\nLee', 'Ann\tLee', 'Ann\u009b', 'Ann\u200b', 'Ann\u{e0041}']) {
      const { code, stderr } = await inProcess(
        ['bootstrap', '--tenant-slug', 'acme', '--tenant-name', 'ACME', '--email', EMAIL, '--name', name],
        { input: PASSWORD },
      );
      expect([code, stderr]).to.deep.equal([
        2,
        'duebook: --name must be one line without control characters, bidirectional controls and invisible characters\n',
      ]);
    }
    expect(
      (
        await cli(['bootstrap', '--tenant-slug', 'acme', '--tenant-name', FINE, '--email', EMAIL, '--name', FINE], {
          input: PASSWORD,
        })
      ).code,
    ).to.equal(0);
  });

  it('an error escapes control characters of an argument', async () => {
    const { cli } = await install();
    await cli(['migrate']);
    const { code, stderr } = await cli(['tenants', 'show', 'a\u001b[2J\u202eb']);
    expect(code).to.equal(1);
    expect(stderr).to.contain('a\\u001b[2J\\u202eb').and.not.to.match(STEERS);
  });
});
