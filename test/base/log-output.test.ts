import { expect } from 'chai';
import { LogOutput, type Writing } from '../../data-plane-agent/base/log-output.js';

/** A file whose writes are answered one by one. */
class SlowFile implements Writing {
  text = '';
  failure: NodeJS.ErrnoException | undefined;
  /** How many bytes each write takes. */
  most = Infinity;
  writes = 0;
  #answers: (() => void)[] = [];

  write: Writing['write'] = (_fd, bytes, done) => {
    this.writes++;
    this.#answers.push(() => (this.failure ? done(this.failure, 0) : done(null, this.#take(bytes))));
  };

  writeSync: Writing['writeSync'] = (_fd, bytes) => {
    if (this.failure) throw this.failure;
    return this.#take(bytes);
  };

  /** Answers all writes, and those that follow from that. */
  answer(): void {
    for (let next = this.#answers.shift(); next; next = this.#answers.shift()) next();
  }

  #take(bytes: Buffer): number {
    const part = bytes.subarray(0, this.most);
    this.text += part.toString('utf8');
    return part.length;
  }
}

const failing = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code });

describe('the output of the log', () => {
  let file: SlowFile;
  let output: LogOutput;
  beforeEach(() => {
    file = new SlowFile();
    output = new LogOutput(1, file);
  });

  /** The lines in the file; of those about lost lines only how many, and why. */
  const lines = (): unknown[] =>
    file.text
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        if (!line.startsWith('{')) return line;
        const { level, lost, reason, time } = JSON.parse(line) as Record<string, unknown>;
        expect(Date.parse(String(time))).to.be.closeTo(Date.now(), 60_000);
        return { level, lost, reason };
      });

  it('writes what has arrived meanwhile at once, in order', () => {
    for (const line of ['a\n', 'b\n', 'c\n']) output.write(line);
    file.answer();
    expect(lines()).to.deep.equal(['a', 'b', 'c']);
    expect(file.writes).to.equal(2);
  });

  it('goes on after a part was written', () => {
    file.most = 3;
    for (const line of ['first\n', 'second\n']) output.write(line);
    file.answer();
    expect(lines()).to.deep.equal(['first', 'second']);
  });

  it('writes what waits before the process ends', () => {
    file.most = 4;
    for (const line of ['a\n', 'one\n', 'two\n']) output.write(line);
    output.flushSync();
    expect(lines()).to.deep.equal(['one', 'two']);
    file.answer();
    expect(lines()).to.deep.equal(['one', 'two', 'a']);
    output.flushSync();
    expect(file.writes).to.equal(1);
  });

  it('says how many lines were lost on a full disk once it has space again', () => {
    file.failure = failing('ENOSPC');
    for (const line of ['a\n', 'b\n', 'c\n']) output.write(line);
    file.answer();
    expect(file.text).to.equal('');
    file.failure = undefined;
    output.write('d\n');
    file.answer();
    expect(lines()).to.deep.equal([{ level: 40, lost: 3, reason: 'ENOSPC' }, 'd']);
    output.write('e\n');
    file.answer();
    expect(lines().slice(2)).to.deep.equal(['e']);
  });

  it('begins a new line after one that was cut off', () => {
    file.most = 2;
    output.write('cut off\n');
    const take = file.write;
    file.write = (fd, bytes, done) => {
      if (file.text.length >= 2) file.failure = failing('EIO');
      take(fd, bytes, done);
    };
    file.answer();
    expect(file.text).to.equal('cu');
    file.write = take;
    file.failure = undefined;
    file.most = Infinity;
    output.write('whole\n');
    file.answer();
    expect(lines()).to.deep.equal(['cu', { level: 40, lost: 1, reason: 'EIO' }, 'whole']);
  });

  it('ends with the reader of the pipe', () => {
    file.failure = failing('EPIPE');
    for (const line of ['a\n', 'b\n']) output.write(line);
    file.answer();
    file.failure = undefined;
    output.write('c\n');
    output.flushSync();
    file.answer();
    expect(file.text).to.equal('');
    expect(file.writes).to.equal(1);
  });

  it('waits for a full pipe only for a while when the process ends', () => {
    output.write('a\n');
    output.write('b\n');
    file.failure = failing('EAGAIN');
    const began = performance.now();
    output.flushSync();
    expect(performance.now() - began).to.be.within(1_000, 20_000);
  });

  it('writes again to a pipe that was full', async () => {
    output.write('a\n');
    file.failure = failing('EAGAIN');
    file.answer();
    file.failure = undefined;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const take = file.write;
    file.write = (fd, bytes, done) => {
      take(fd, bytes, done);
      file.answer();
      resolve(undefined);
    };
    await promise;
    expect(lines()).to.deep.equal(['a']);
  });

  it('keeps no more than eight million characters for a reader that is slow', () => {
    const line = `${'x'.repeat(1024 * 1024 - 1)}\n`;
    for (let i = 0; i < 12; i++) output.write(line);
    file.answer();
    output.write('after\n');
    file.answer();
    const whole = lines().map((one) => (one === line.trimEnd() ? 'a line' : one));
    const loss = { level: 40, lost: 3, reason: 'the output is too slow' };
    expect(whole).to.deep.equal(['a line', loss, ...Array<string>(8).fill('a line'), 'after']);
  });
});
