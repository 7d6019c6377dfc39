import { expect } from 'chai';
import { createLog } from '../../../data-plane-agent/base/log.js';
import { createClamd } from '../../../data-plane-agent/plane/files/scanner/clamd.js';
import { CLAMD_MAX_BYTES, clamdLines } from '../../../data-plane-agent/plane/files/scanner/clamd-settings.js';
import type { SelfTest } from '../../../data-plane-agent/plane/files/scanner/scanner.js';
import { needsClamd, settingsOf, startClamd, type ClamdOptions } from '../../support/clamd.js';
import { read } from '../../support/source.js';

const MIB = 2 ** 20;
const FILE_MAX_BYTES = 50 * MIB;
const log = createLog({ level: 'silent', name: 'test' });

/** The self-test of a clamd that is configured in this way. */
async function tested(
  options: ClamdOptions,
  fileMaxBytes: number = FILE_MAX_BYTES,
): Promise<SelfTest & { readonly isAnswered: true }> {
  const clamd = await startClamd(options);
  try {
    const test = await createClamd({ url: clamd.url, fileMaxBytes, log }).selfTest();
    if (!test.isAnswered) throw new Error(test.reason);
    return test;
  } finally {
    await clamd.stop();
  }
}

describe('the clamd.conf of Debian', () => {
  needsClamd();
  const ALERTS = ['AlertExceedsMax yes', 'AlertEncrypted yes'];

  it('fails the self-test, which names all lines that it lacks, with the values for FILE_MAX_BYTES', async () => {
    const test = await tested({ conf: 'debian' });
    expect(test.faults).to.have.length(2);
    expect(test.lines).to.deep.equal([...ALERTS, 'StreamMaxLength 51M', 'MaxFileSize 256M', 'MaxScanSize 1024M']);
    expect((await tested({ conf: 'debian' }, 300 * MIB + 1)).lines).to.deep.equal([
      ...ALERTS,
      'StreamMaxLength 302M',
      'MaxFileSize 302M',
      'MaxScanSize 1208M',
    ]);
    expect((await tested({ conf: 'debian' }, 20 * MIB)).lines).not.to.include('StreamMaxLength 21M');
  });

  it('passes with these lines, for small, large and the largest files', async () => {
    for (const fileMaxBytes of [MIB, FILE_MAX_BYTES, 300 * MIB + 1, CLAMD_MAX_BYTES, 5 * 1024 * MIB]) {
      const { lines } = await tested({ conf: 'debian' }, fileMaxBytes);
      const test = await tested({ conf: 'debian', settings: settingsOf(lines) }, fileMaxBytes);
      expect([test.faults, test.lines], `FILE_MAX_BYTES=${fileMaxBytes}`).to.deep.equal([[], []]);
      expect(test.limits.fileBytes).to.equal(Math.min(fileMaxBytes, CLAMD_MAX_BYTES));
    }
  });

  it('with the first two lines only, passes with limits, which are measured', async () => {
    const test = await tested({ conf: 'debian', settings: settingsOf(ALERTS) });
    expect(test).to.deep.equal({
      isAnswered: true,
      faults: [],
      lines: ['StreamMaxLength 51M', 'MaxFileSize 256M', 'MaxScanSize 1024M'],
      limits: { fileBytes: 25 * MIB, partBytes: 25 * MIB },
    });
  });
});

describe('limits of clamd that are too small', () => {
  needsClamd();

  it('are measured and named, each by its line', async () => {
    const cases: [name: string, value: string, line: string, limits: { fileBytes: number; partBytes: number }][] = [
      ['StreamMaxLength', '1234567', 'StreamMaxLength 51M', { fileBytes: 1_234_567, partBytes: 200 * MIB }],
      ['MaxFileSize', '7M', 'MaxFileSize 256M', { fileBytes: 7 * MIB, partBytes: 7 * MIB }],
      ['MaxScanSize', '220M', 'MaxScanSize 1024M', { fileBytes: FILE_MAX_BYTES, partBytes: 200 * MIB }],
    ];
    for (const [name, value, line, limits] of cases)
      expect(await tested({ settings: { [name]: value } }), name).to.deep.equal({
        isAnswered: true,
        faults: [],
        lines: [line],
        limits,
      });
  });

  it('are also named if they are only a byte below FILE_MAX_BYTES', async () => {
    const settings = { StreamMaxLength: String(FILE_MAX_BYTES - 1) };
    expect((await tested({ settings })).lines).to.deep.equal(['StreamMaxLength 51M']);
    expect((await tested({ settings }, FILE_MAX_BYTES - 1)).lines).to.deep.equal([]);
  });
});

describe('the lines for clamd.conf', () => {
  it('are those of docker/clamd.conf for the default FILE_MAX_BYTES, and those that docs/scanner.md shows', () => {
    const shipped = read('docker/clamd.conf').split('\n');
    for (const line of Object.values(clamdLines(52_428_800))) expect(shipped).to.include(line);
    const page = read('docs/scanner.md');
    expect(page).to.contain(`\n${Object.values(clamdLines(52_428_800)).join('\n')}\n`);
    const rows = [...page.matchAll(/^\| `(\d+)` \([^|]*\| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \|$/gm)];
    expect(rows).to.have.length.greaterThan(4);
    for (const [, bytes, ...shown] of rows) {
      const { StreamMaxLength, MaxFileSize, MaxScanSize } = clamdLines(Number(bytes));
      expect(shown).to.deep.equal([StreamMaxLength, MaxFileSize, MaxScanSize]);
    }
  });
});
