import { connect, type Socket } from 'node:net';

/** The address of a clamd. */
export type ClamdAddress = { readonly host: string; readonly port: number } | { readonly path: string };

/** Parses `tcp://host:3310` or `unix:/path/of/the/socket`; `undefined` for any other form. */
export function clamdAddress(url: string): ClamdAddress | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, port, pathname, username, search, hash } = new URL(url);
  if (username !== '' || search !== '' || hash !== '') return undefined;
  if (protocol === 'unix:')
    return hostname === '' && pathname.startsWith('/') ? { path: decodeURIComponent(pathname) } : undefined;
  if (protocol !== 'tcp:' || hostname === '' || !/^\/?$/.test(pathname)) return undefined;
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? 3310 : Number(port) };
}

/** Why there is no response; completes the sentence "The scanner …". */
export class ClamdError extends Error {
  override readonly name: string = 'ClamdError';
}

/** No connection was established, so that nothing was sent: nothing listens there, or there is no route to it. */
export class ClamdUnreachable extends ClamdError {}

/** The scanner closed the connection without a response. */
export class ClamdEnded extends ClamdError {}

/** Buffers that are sent together. */
export type Frame = readonly Buffer[];

export interface Question {
  /** The command without its delimiters. */
  readonly command: string;
  /** Sent after the command. Their errors reject the request. */
  readonly frames?: AsyncIterable<Frame>;
  /** Whether to close the sending side after the frames, so that a waiting scanner gives up. */
  readonly endsAfter?: boolean;
  /** Aborting closes the connection at once and rejects with the signal's reason. */
  readonly signal: AbortSignal;
}

/**
 * Sends one command over a new connection and returns the response. Rejects with a `ClamdError`, an error of the
 * frames, or the signal's reason.
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
    // A response may arrive before all is sent (a limit); sending may also fail without one.
    return await Promise.race([answer, sending.then(() => answer)]);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    socket.destroy();
    // The loser of the race may still reject; the outcome is already decided.
    answer.catch(() => undefined);
    sending.catch(() => undefined);
  }
}

/** Longer than any response of clamd. */
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
      else if (received.length > MAX_ANSWER) reject(new ClamdError('sent a response that is too long'));
    });
    socket.once('error', (error) =>
      reject(
        isConnected
          ? new ClamdError(`closed the connection (${codeOf(error)})`, { cause: error })
          : new ClamdUnreachable(`cannot be reached (${codeOf(error)})`, { cause: error }),
      ),
    );
    socket.once('close', () =>
      reject(
        received === ''
          ? new ClamdEnded('closed the connection without a response')
          : new ClamdError('closed the connection within its response'),
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
    // Backpressure: reading pauses until the scanner has taken the data.
    if (!writeWhole(socket, frame)) await drained(socket);
  }
  if (endsAfter) socket.end();
}

/**
 * Writes a frame without copying, but in one packet: a length sent alone would be delayed (Nagle's algorithm). Returns
 * whether the socket accepts more.
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
