import { connect, type Socket } from 'node:net';

/** Where a clamd listens. */
export type ClamdAddress = { readonly host: string; readonly port: number } | { readonly path: string };

/** `tcp://host:3310`, or `unix:/path/of/the/socket`; `undefined` when it is neither. */
export function clamdAddress(url: string): ClamdAddress | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, port, pathname, username, search, hash } = new URL(url);
  if (username !== '' || search !== '' || hash !== '') return undefined;
  if (protocol === 'unix:')
    return hostname === '' && pathname.startsWith('/') ? { path: decodeURIComponent(pathname) } : undefined;
  if (protocol !== 'tcp:' || hostname === '' || !/^\/?$/.test(pathname)) return undefined;
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? 3310 : Number(port) };
}

/** Why there is no answer; completes the sentence "The scanner …". */
export class ClamdError extends Error {
  override readonly name: string = 'ClamdError';
}

/** It closed the connection and had said nothing. */
export class ClamdEnded extends ClamdError {}

/** What belongs together on the wire. */
export type Frame = readonly Buffer[];

export interface Question {
  /** Without what begins and ends it on the wire. */
  readonly command: string;
  /** What follows it. An error of theirs is the error of the conversation. */
  readonly frames?: AsyncIterable<Frame>;
  /** Whether nothing more is sent after the frames, so that a scanner which waits for more gives up. */
  readonly endsAfter?: boolean;
  /** Aborted: the connection is closed at once, and its reason is what is thrown. */
  readonly signal: AbortSignal;
}

/**
 * One question on a connection of its own, and its whole answer. Rejects with a `ClamdError`, with what the frames
 * threw, or with the signal's reason.
 */
export async function ask(
  address: ClamdAddress,
  { command, frames, endsAfter = false, signal }: Question,
): Promise<string> {
  signal.throwIfAborted();
  const socket = connect(address);
  const onAbort = (): void => void socket.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  const answer = answerOf(socket);
  const sending = send(socket, { command: `z${command}\0`, frames, endsAfter });
  try {
    // An answer may come before all is sent (a limit), and sending may fail where the answer says nothing about it.
    return await Promise.race([answer, sending.then(() => answer)]);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    socket.destroy();
    // Whichever lost the race has been told by that; what it says now is of no interest.
    answer.catch(() => undefined);
    sending.catch(() => undefined);
  }
}

/** More than any answer has: what is longer is no scanner's. */
const MAX_ANSWER = 4_096;

function answerOf(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    let isConnected = false;
    socket.setEncoding('utf8');
    socket.once('connect', () => (isConnected = true));
    socket.on('data', (text: string) => {
      received += text;
      const end = received.indexOf('\0');
      if (end !== -1) resolve(received.slice(0, end));
      else if (received.length > MAX_ANSWER) reject(new ClamdError('answers what no clamd does'));
    });
    socket.once('error', (error) =>
      reject(new ClamdError(`${isConnected ? 'broke off' : 'cannot be reached'} (${codeOf(error)})`, { cause: error })),
    );
    socket.once('close', () =>
      reject(
        received === ''
          ? new ClamdEnded('ended the connection without an answer')
          : new ClamdError('broke off within its answer'),
      ),
    );
  });
}

async function send(
  socket: Socket,
  {
    command,
    frames,
    endsAfter,
  }: { readonly command: string; readonly frames: AsyncIterable<Frame> | undefined; readonly endsAfter: boolean },
): Promise<void> {
  socket.write(command);
  for await (const frame of frames ?? []) {
    if (socket.destroyed) return;
    // A scanner reads as fast as it can: what it has not taken waits here, and nothing more is read meanwhile.
    if (!writeWhole(socket, frame)) await drained(socket);
  }
  if (endsAfter) socket.end();
}

/**
 * Without copying it together, and yet in one go: a length that goes alone waits for the answer to what went before it.
 * Whether there is room for more.
 */
function writeWhole(socket: Socket, frame: Frame): boolean {
  socket.cork();
  const hasRoom = frame.map((bytes) => socket.write(bytes)).every((room) => room);
  socket.uncork();
  return hasRoom;
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      socket.off('drain', go).off('close', go);
      resolve();
    };
    if (socket.destroyed) resolve();
    else socket.once('drain', go).once('close', go);
  });
}

const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : error.message;
