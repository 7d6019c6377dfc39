import { expect } from 'chai';
import { mock } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { readCsvRowsBeside } from '../../data-plane-agent/base/csv/read-beside.js';
import { readCsvRows, TooManyCsvRows, type CsvLimits } from '../../data-plane-agent/base/csv/read-rows.js';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { isLongWorkUnderWay } from '../../data-plane-agent/base/long-work.js';
import { createRowsReader } from '../../data-plane-agent/base/rows-in-thread.js';

/** A thread that runs this JavaScript. */
const threadOf = (code: string): URL =>
  new URL(`data:text/javascript,${encodeURIComponent(`import { parentPort } from 'node:worker_threads';${code}`)}`);
const read = (code: string) => createRowsReader<number, string>(threadOf(code))('tenant', null);
const errorOf = (reading: Promise<unknown>): Promise<unknown> =>
  reading.then(
    () => 'read',
    (error: unknown) => error,
  );
const reasonOf = async (reading: Promise<unknown>): Promise<unknown> => {
  const error = await errorOf(reading);
  return isFailure(error, 'IMPORT_FILE_INVALID') ? error.details.reason : error;
};
/** Also the number of threads that were started meanwhile. */
const withThreads = async <T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly threads: number }> => {
  let threads = 0;
  const count = (_thread: Worker): void => void (threads += 1);
  process.on('worker', count);
  try {
    return { result: await work(), threads };
  } finally {
    process.off('worker', count);
  }
};
const DONE = `parentPort.postMessage({ done: 'end' });`;

describe('rows that a thread reads', () => {
  afterEach(() => mock.timers.reset());

  it('come piece by piece, each when the one before has arrived, and then the end', async () => {
    const code = `
      let sent = 0, answers = 0;
      const next = () => sent < 3 ? parentPort.postMessage({ rows: [sent++, answers] }) : parentPort.postMessage({ done: String(answers) });
      parentPort.on('message', () => { answers++; next(); });
      next();`;
    expect(await read(code)).to.deep.equal({ rows: [0, 0, 1, 1, 2, 2], end: '3' });
  });

  it('are refused with the reason of the thread', async () => {
    expect(await reasonOf(read(`parentPort.postMessage({ refused: 'it is torn' })`))).to.equal('it is torn');
  });

  it('are refused if they need too much memory', async function () {
    this.timeout(60_000);
    const code = `const all = []; for (;;) all.push(Array.from({ length: 1_000 }, () => ({})));`;
    expect(await reasonOf(read(code))).to.equal('it takes too much memory to read');
    expect(await read(DONE)).to.deep.equal({ rows: [], end: 'end' });
  });

  it('are refused after twenty seconds', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const reading = reasonOf(read('for (;;);'));
    mock.timers.tick(19_999);
    expect(await Promise.race([reading, new Promise((resolve) => setImmediate(resolve, 'not yet'))])).to.equal(
      'not yet',
    );
    mock.timers.tick(1);
    expect(await reading).to.equal('it takes too long to read');
  });

  it('fail with the error of the thread, or if it ends without an end', async () => {
    expect(await errorOf(read(`throw new TypeError('a fault')`))).to.be.instanceOf(TypeError);
    expect(await errorOf(read(''))).to.have.property('message', 'the thread that reads a file ended with 0');
    expect(await read(DONE)).to.deep.equal({ rows: [], end: 'end' });
  });

  it('are read one file at a time, and by turns; a reader may have ten more waiting', async () => {
    const order: string[] = [];
    const readInThread = createRowsReader(threadOf(DONE));
    const note = (reader: string) =>
      readInThread(reader, null).then(
        () => void order.push(reader),
        (error: unknown) => void order.push(isFailure(error, 'RATE_LIMITED') ? `${reader} refused` : String(error)),
      );
    const all = [...Array.from({ length: 12 }, () => note('a')), note('b')];
    expect(isLongWorkUnderWay(), 'the process is not idle').to.equal(true);
    await Promise.all(all);
    expect(isLongWorkUnderWay()).to.equal(false);
    expect(order).to.deep.equal(['a refused', 'a', 'a', 'b', ...Array<string>(9).fill('a')]);
  });
});

describe('a long CSV text', () => {
  const LIMITS: CsvLimits = { columns: 20, rows: 4_000 };
  const same = async (text: string): Promise<number> => {
    const here = await readCsvRows(text, LIMITS);
    const { result, threads } = await withThreads(() => readCsvRowsBeside(text, LIMITS, 'tenant'));
    expect(result).to.deep.equal(here);
    return threads;
  };
  const beside = (text: string) => readCsvRowsBeside(text, LIMITS, 'tenant');
  const lines = (count: number, line = '"1 ""quoted""";𠮷野家, 寿司;\n') => line.repeat(count);

  it('is read in a thread, exactly as a short one is without', async () => {
    expect(await same(`\uFEFFa;b;c\r\n${lines(3_000)}`)).to.equal(1);
    expect(await same(`\uFEFFa;b;c\r\n${lines(30)}`)).to.equal(0);
    expect(await same(`a\tb\n${lines(100, `${'x'.repeat(1_000)}\t2\n`)}\n\n`)).to.equal(1);
    expect(await same(`a,b\n${lines(3_900, `${','.repeat(19)}\n`)}`), 'twenty cells in a row').to.equal(1);
  });

  it('is refused for the same reasons', async () => {
    for (const bad of ['1;"open', '1;5" pipe\n', '1;"x"y\n', `${';'.repeat(20)}\n`]) {
      const text = `a;b;c\n${lines(3_000)}${bad}`;
      const here = await errorOf(readCsvRows(text, LIMITS));
      expect(here).to.have.property('name', 'UnreadableCsv');
      expect(here).to.have.property('message', await reasonOf(beside(text)));
    }
    expect(await errorOf(beside(`a;b;c\n${lines(3_999)}`))).to.equal('read');
    expect(await errorOf(beside(`a;b;c\n${lines(4_000)}`))).to.be.instanceOf(TooManyCsvRows);
  });
});
