import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import { printable, printablePiece } from './render/printable.js';

/**
 * How a command speaks: data on standard output, messages on standard error, and questions only where somebody sits.
 * What others have typed in reaches a terminal without the characters that it would obey.
 */
export interface Io {
  /** What the command was asked for. */
  data(text: string): void;
  /**
   * A piece of a file, as it is unless it goes to a terminal, without a newline; settles when more can be taken, with
   * `false` when nobody reads any more.
   */
  write(text: string): Promise<boolean>;
  /** What a person may want to know beside it. */
  message(text: string): void;
  /** One line that replaces itself; nothing unless on a terminal. An empty one clears it. */
  progress(text: string): void;
  /** Both ends are terminals: a question can be asked and answered. */
  readonly interactive: boolean;
  /** Columns for help and tables. */
  readonly width: number;
  /** All of standard input without its last newline; empty when it is a terminal, or when nothing comes for a while. */
  input(): Promise<string>;
  /** Asks on the terminal; what is typed to a hidden question is not shown. */
  ask(question: string, options?: { readonly hidden: boolean }): Promise<string>;
}

export interface Streams {
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly stderr: WriteStream;
}

export function createIo({ stdin, stdout, stderr }: Streams): Io {
  // On what is not a terminal `isTTY` is not there at all, whatever its type says.
  const isTerminal = (stream: { readonly isTTY?: boolean }): boolean => stream.isTTY === true;
  return {
    data: (text) => void stdout.write(`${printable(text)}\n`),
    write: (text) => written(stdout, isTerminal(stdout) ? printablePiece(text) : text),
    message: (text) => void stderr.write(`${printable(text)}\n`),
    progress: (text) => {
      if (isTerminal(stderr)) stderr.write(`\r\u001B[K${printable(text)}`);
    },
    interactive: isTerminal(stdin) && isTerminal(stderr),
    width: isTerminal(stdout) ? Math.min(stdout.columns, 120) : 100,
    input: () => (isTerminal(stdin) ? Promise.resolve('') : allOf(stdin)),
    ask: (question, { hidden } = { hidden: false }) => asked({ stdin, stderr, question: printable(question), hidden }),
  };
}

function written(stdout: WriteStream, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    // What goes wrong is the stream's own event, which the program hears.
    stdout.write(text, (error) => resolve(!error));
  });
}

/** An open pipe into which nobody writes must not hold up a script for ever. */
const TIMEOUT_MS = 10_000;
const MAX_INPUT_BYTES = 64 * 1024;

function allOf(stdin: ReadStream): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const done = (settle: () => void): void => {
      clearTimeout(patience);
      stdin.removeAllListeners().pause();
      // A pipe that stays open would keep the process alive. A file, such as /dev/null, is no socket and cannot be let
      // go of.
      if ('unref' in stdin) stdin.unref();
      settle();
    };
    const patience = setTimeout(() => done(() => resolve('')), TIMEOUT_MS);
    stdin.on('data', (chunk) => {
      clearTimeout(patience);
      chunks.push(Buffer.from(chunk));
      if (Buffer.concat(chunks).length > MAX_INPUT_BYTES)
        done(() => reject(new Error('standard input is longer than 64 KB')));
    });
    stdin.on('end', () =>
      done(() =>
        resolve(
          Buffer.concat(chunks)
            .toString('utf8')
            .replace(/\r?\n$/, ''),
        ),
      ),
    );
    stdin.on('error', (error) => done(() => reject(error)));
    if ('ref' in stdin) stdin.ref();
  });
}

async function asked({
  stdin,
  stderr,
  question,
  hidden,
}: {
  stdin: ReadStream;
  stderr: WriteStream;
  question: string;
  hidden: boolean;
}): Promise<string> {
  // readline echoes what is typed to its output: for a hidden answer that goes nowhere.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: hidden ? nowhere : stderr, terminal: true });
  try {
    if (hidden) stderr.write(question);
    const answer = await lines.question(hidden ? '' : question);
    if (hidden) stderr.write('\n');
    return answer;
  } finally {
    lines.close();
  }
}
