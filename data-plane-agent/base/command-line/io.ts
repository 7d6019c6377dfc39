import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import { printable, printablePiece } from './printable.js';

/**
 * Input and output of a command: data on standard output, messages on standard error, questions only on a terminal.
 * Control characters in the output are escaped, so that stored text cannot steer the terminal.
 */
export interface Io {
  /** Prints the result of the command to standard output. */
  data(text: string): void;
  /**
   * Writes a piece of a file to standard output without a newline, escaped only on a terminal. Resolves once it is
   * written, to `false` when the output was closed.
   */
  write(text: string): Promise<boolean>;
  /** Prints a message to standard error. */
  message(text: string): void;
  /** Shows a progress line that replaces the previous one; an empty text clears it. Prints only to a terminal. */
  progress(text: string): void;
  /** Standard input and standard error are terminals, so a question can be asked. */
  readonly interactive: boolean;
  /** Width of help and tables, in columns. */
  readonly width: number;
  /** Whether standard output is a terminal. */
  readonly toTerminal: boolean;
  /**
   * All of standard input without its last newline. Empty on a terminal, and when nothing arrives within 10 seconds.
   */
  input(): Promise<string>;
  /** Asks on the terminal. The answer to a hidden question is not echoed. */
  ask(question: string, options?: { readonly hidden: boolean }): Promise<string>;
}

export interface Streams {
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly stderr: WriteStream;
}

export function createIo({ stdin, stdout, stderr }: Streams): Io {
  // `isTTY` is undefined on a stream that is not a terminal, despite its type.
  const isTerminal = (stream: { readonly isTTY?: boolean }): boolean => stream.isTTY === true;
  return {
    data: (text) => void stdout.write(`${printable(text)}\n`),
    write: (text) => written(stdout, isTerminal(stdout) ? printablePiece(text) : text),
    message: (text) => void stderr.write(`${printable(text)}\n`),
    progress: (text) => {
      if (isTerminal(stderr)) stderr.write(`\r\u001B[K${printable(text)}`);
    },
    interactive: isTerminal(stdin) && isTerminal(stderr),
    // A terminal of unknown size has 0 columns.
    width: isTerminal(stdout) ? Math.min(stdout.columns || 80, 120) : 100,
    toTerminal: isTerminal(stdout),
    input: () => (isTerminal(stdin) ? Promise.resolve('') : allOf(stdin)),
    ask: (question, { hidden } = { hidden: false }) => asked({ stdin, stderr, question: printable(question), hidden }),
  };
}

function written(stdout: WriteStream, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    // `runOn` handles the errors of the stream.
    stdout.write(text, (error) => resolve(!error));
  });
}

/** A script must not wait forever on an open pipe that receives no data. */
const TIMEOUT_MS = 10_000;
const MAX_INPUT_BYTES = 64 * 1024;

function allOf(stdin: ReadStream): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const done = (settle: () => void): void => {
      clearTimeout(timeout);
      stdin.removeAllListeners().pause();
      // An open pipe would keep the process alive. A file, such as /dev/null, has no `unref`.
      if ('unref' in stdin) stdin.unref();
      settle();
    };
    const timeout = setTimeout(() => done(() => resolve('')), TIMEOUT_MS);
    stdin.on('data', (chunk) => {
      clearTimeout(timeout);
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
  // readline echoes the input to its output stream; a hidden answer is echoed to one that discards it.
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
