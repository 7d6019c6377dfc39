import { expect } from 'chai';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dayFiles, logFolder, verifyLog } from '../../data-plane-agent/agent/operation-log-files.js';
import { entriesOf } from '../../data-plane-agent/agent/operation-log-reading.js';
import { chainKey, openOperationLog, type OperationLog } from '../../data-plane-agent/agent/operation-log.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import { fakeClock } from '../support/clock.js';
import { longestWork } from '../support/watched-loop.js';

describe('the log of operations', () => {
  const log = createLog({ level: 'silent', name: 'test' });
  const ring = generateKeyRingText();
  const keyRing = parseKeyRing(ring);
  const clock = fakeClock('2026-11-22T23:59:58.000Z');
  let dataDir: string;
  const opened: OperationLog[] = [];

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'duebook-oplog-'));
    clock.set('2026-11-22T23:59:58.000Z');
  });
  afterEach(async () => {
    await close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const open = (days = 90): OperationLog => {
    const one = openOperationLog({ dataDir, keyRing, days, clock, log });
    opened.push(one);
    return one;
  };
  const close = async (): Promise<void> => {
    for (const one of opened.splice(0)) await one.close();
  };
  const operation = (name: string) => ({
    operation: name,
    actorKind: 'user',
    actorId: null,
    requestId: 'request-1',
    outcome: 'ok',
    ms: 1.2,
    bytesIn: 10,
    bytesOut: 20,
  });
  const verify = (key = chainKey(keyRing)) => verifyLog(logFolder(dataDir), key);
  const names = async (filter: Parameters<typeof entriesOf>[1] = {}): Promise<unknown[]> => {
    const found = [];
    for await (const entry of entriesOf(logFolder(dataDir), filter)) found.push(entry['operation'] ?? entry['event']);
    return found;
  };
  const lastFile = (): string => dayFiles(logFolder(dataDir)).at(-1)?.path ?? '';

  it('has a file for each day, chained across days and starts of the agent', async () => {
    open().add(operation('listContracts'));
    await close();
    clock.advance(3_000);
    const second = open();
    second.add(operation('getContract'));
    second.add(operation('getContract'));
    await close();
    expect(dayFiles(logFolder(dataDir)).map(({ day }) => day)).to.deep.equal(['2026-11-22', '2026-11-23']);
    expect(await verify()).to.deep.equal({
      entries: 3,
      firstDay: '2026-11-22',
      lastDay: '2026-11-23',
      faults: [],
      torn: false,
    });
    expect(await names()).to.deep.equal(['listContracts', 'getContract', 'getContract']);
  });

  it('can be read by its owner only', async () => {
    open().add(operation('listContracts'));
    await close();
    const modes = [logFolder(dataDir), lastFile()].map((path) => (statSync(path).mode & 0o777).toString(8));
    expect(modes).to.deep.equal(['700', '600']);
  });

  it('is verified with a key of the agent: entries that another key made are found', async () => {
    open().add(operation('listContracts'));
    await close();
    const { faults } = await verify(chainKey(parseKeyRing(generateKeyRingText())));
    expect(faults.length).to.be.greaterThan(0);
    // A new active key does not change the key of the chain.
    expect((await verify(chainKey(parseKeyRing(`${generateKeyRingText()},${ring}`)))).faults).to.deep.equal([]);
  });

  const attacks: Readonly<Record<string, (lines: string[]) => string[]>> = {
    'a changed entry': (lines) =>
      lines.map((line, at) => (at === 2 ? line.replace('getContract', 'listContract') : line)),
    'a removed entry': (lines) => lines.filter((_, at) => at !== 2),
    'a repeated entry': (lines) => lines.flatMap((line, at) => (at === 2 ? [line, line] : [line])),
    'two entries in another order': ([a = '', b = '', c = '', d = '', ...rest]) => [a, b, d, c, ...rest],
    'a removed end': (lines) => lines.slice(0, -1),
    'a line that is no entry': (lines) => [...lines, 'something'],
    'a changed beginning': ([first = '', ...rest]) => [first.replace('"n":0', '"n":1'), ...rest],
    'a removed file': () => [],
  };
  for (const [name, change] of Object.entries(attacks)) {
    it(`shows ${name}`, async () => {
      const one = open();
      for (const operationName of ['listContracts', 'getContract', 'getContract', 'listTrash'])
        one.add(operation(operationName));
      await close();
      const path = lastFile();
      const lines = change(readFileSync(path, 'utf8').trimEnd().split('\n'));
      if (lines.length === 0) rmSync(path);
      else writeFileSync(path, `${lines.join('\n')}\n`);
      expect((await verify()).faults.length).to.be.greaterThan(0);
    });
  }

  it('tolerates an incomplete last line, reports it, and continues after it', async () => {
    open().add(operation('listContracts'));
    await close();
    appendFileSync(lastFile(), '{"n":2,"at":"2026-11');
    expect(await verify()).to.deep.include({ faults: [], torn: true, entries: 1 });
    open().add(operation('getContract'));
    await close();
    expect(await verify()).to.deep.include({ faults: [], torn: false, entries: 3 });
    expect(await names()).to.deep.equal(['listContracts', 'torn_line', 'getContract']);
  });

  it('records that its end was missing at a start', async () => {
    const one = open();
    one.add(operation('listContracts'));
    one.add(operation('getContract'));
    await close();
    const path = lastFile();
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    truncateSync(path, `${lines.slice(0, -1).join('\n')}\n`.length);
    open().add(operation('listTrash'));
    await close();
    expect(await names()).to.deep.equal(['listContracts', 'missing_end', 'listTrash']);
  });

  it('removes files older than the retention, and stays verifiable', async () => {
    for (let day = 0; day < 5; day += 1) {
      const one = open(3);
      one.add(operation(`day${day}`));
      one.removeOld();
      await close();
      clock.advance(24 * 3_600_000);
    }
    expect(await names()).to.deep.equal(['day2', 'day3', 'day4']);
    expect((await verify()).faults).to.deep.equal([]);
  });

  it('finds entries by time and operation, the newest first to be kept', async () => {
    const one = open();
    for (const operationName of ['a', 'b', 'a', 'c']) {
      one.add(operation(operationName));
      await one.flush();
      clock.advance(1_000);
    }
    expect(await names({ operation: 'a' })).to.deep.equal(['a', 'a']);
    expect(await names({ limit: 3 })).to.deep.equal(['b', 'a', 'c']);
    expect(await names({ from: '2026-11-23T00:00:00.000Z' })).to.deep.equal(['a', 'c']);
    expect(await names({ before: '2026-11-23T00:00:00.000Z' })).to.deep.equal(['a', 'b']);
  });

  it('ends when it is closed, also when it cannot be written then', async () => {
    const one = open();
    one.add(operation('first'));
    rmSync(dataDir, { recursive: true, force: true });
    await one.close();
    opened.splice(0);
    expect(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout')).to.have.length.below(2);
  });

  it('keeps what it cannot write, refuses more than it can keep, and writes it once it can', async () => {
    const one = open();
    one.add(operation('first'));
    await one.flush();
    // The next day's file cannot be created in a place that is a folder.
    clock.set('2026-11-24T08:00:00.000Z');
    const obstacle = join(logFolder(dataDir), '2026-11-24.jsonl');
    mkdirSync(obstacle);
    for (let count = 0; count < 10_000; count += 1) one.add(operation('waits'));
    await one.flush();
    expect(one.isFull).to.equal(true);
    rmSync(obstacle, { recursive: true });
    await one.flush();
    expect(one.isFull).to.equal(false);
    expect(await verify()).to.deep.include({ faults: [], entries: 10_001 });
  });

  it('writes thousands of entries without delaying operations', async () => {
    const one = open();
    for (let count = 0; count < 2_000; count += 1) one.add(operation('warms up'));
    await one.flush();
    for (let count = 0; count < 9_999; count += 1) one.add(operation('listContracts'));
    expect(await longestWork(() => one.flush())).to.be.lessThan(40);
    expect(await verify()).to.deep.include({ faults: [], entries: 11_999 });
  });

  it('counts entries that are being written, and writes those that are added meanwhile after them', async () => {
    const one = open();
    for (let count = 0; count < 10_000; count += 1) one.add(operation('first'));
    const writing = one.flush();
    expect(one.isFull).to.equal(true);
    one.add(operation('second'));
    await Promise.all([writing, one.flush()]);
    expect(one.isFull).to.equal(false);
    expect(await names({ limit: 2 })).to.deep.equal(['first', 'second']);
    expect(await verify()).to.deep.include({ faults: [], entries: 10_001 });
  });

  it('is on the disk before a flush is over, and when it is closed', async () => {
    const one = open();
    one.add(operation('first'));
    await one.flush();
    expect(await names()).to.deep.equal(['first']);
    one.add(operation('second'));
    await close();
    expect(await names()).to.deep.equal(['first', 'second']);
  });
});
