import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { createLinkSession } from '../../data-plane-agent/base/link/create-session.js';
import { decodeFrame, encodeFrame, type Frame } from '../../data-plane-agent/base/link/frames.js';
import { LINK } from '../../data-plane-agent/base/link/limits.js';
import type {
  LinkHandlers,
  LinkMessage,
  LinkSession,
  MessageSocket,
} from '../../data-plane-agent/base/link/session.js';
import type { Timers } from '../../data-plane-agent/base/link/timers.js';
import { socketOf } from '../../data-plane-agent/base/link/web-socket.js';
import { createLog, type Log } from '../../data-plane-agent/base/log.js';

/** Timers that run when the test advances the time. */
export interface FakeTimers extends Timers {
  advance(ms: number): void;
  readonly pending: number;
  /** Whether a timer of exactly this delay is pending. */
  isPending(ms: number): boolean;
}

export function fakeTimers(): FakeTimers {
  let now = 0;
  const waiting = new Set<{ at: number; ms: number; run: () => void }>();
  return {
    elapsed: () => now,
    after: (ms, run) => {
      const timer = { at: now + ms, ms, run };
      waiting.add(timer);
      return () => waiting.delete(timer);
    },
    advance: (ms) => {
      const until = now + ms;
      for (;;) {
        const [due] = [...waiting].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at);
        if (!due) break;
        waiting.delete(due);
        now = due.at;
        due.run();
      }
      now = until;
    },
    get pending() {
      return waiting.size;
    },
    isPending: (ms) => [...waiting].some((timer) => timer.ms === ms),
  };
}

/** A log whose lines the test reads. */
export function linesOf(): { readonly log: Log; readonly lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
  return { log: createLog({ level: 'info', name: 'test', destination: { write } }), lines };
}

export const echo: LinkHandlers = {
  onRequest: (message) => Promise.resolve(message),
  onNotice: () => undefined,
  onGoAway: () => undefined,
};

export const message = (head: LinkMessage['head'], body: string | Uint8Array = ''): LinkMessage => ({
  head,
  body: Buffer.from(body),
});

/** A signal that never fires. */
export const never = (): { readonly signal: AbortSignal } => ({ signal: new AbortController().signal });

export interface Listening {
  readonly url: string;
  /** The next WebSocket that is opened. */
  next(): Promise<WebSocket>;
  close(): Promise<void>;
}

/** A WebSocket server on loopback. `onOpen` is called in the turn in which a WebSocket opens. */
export async function listening(onOpen: (ws: WebSocket) => void = () => undefined): Promise<Listening> {
  const server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    perMessageDeflate: false,
    maxPayload: LINK.maxPayload,
  });
  server.on('connection', onOpen);
  await once(server, 'listening');
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    next: async () => ((await once(server, 'connection')) as [WebSocket])[0],
    close: async () => {
      for (const ws of server.clients) ws.terminate();
      server.close();
      await once(server, 'close');
    },
  };
}

export const dial = (url: string): WebSocket =>
  new WebSocket(url, { perMessageDeflate: false, maxPayload: LINK.maxPayload });

export interface Linked {
  readonly client: LinkSession;
  readonly server: LinkSession;
  /** The client's WebSocket. */
  readonly ws: WebSocket;
  readonly serverWs: WebSocket;
  close(): Promise<void>;
}

interface Side {
  readonly handlers?: Partial<LinkHandlers>;
  readonly timers?: Timers;
  readonly log?: Log;
}

/** Two sessions over a real WebSocket. */
export async function linked({ client = {}, server = {} }: { client?: Side; server?: Side } = {}): Promise<Linked> {
  const opened = Promise.withResolvers<{ readonly server: LinkSession; readonly serverWs: WebSocket }>();
  const at = await listening((serverWs) => opened.resolve({ server: sessionOf(serverWs, 'server', server), serverWs }));
  const ws = dial(at.url);
  const mine = await new Promise<LinkSession>((resolve) =>
    ws.on('open', () => resolve(sessionOf(ws, 'client', client))),
  );
  const close = (): Promise<void> => {
    ws.terminate();
    return at.close();
  };
  return { client: mine, ...(await opened.promise), ws, close };
}

export const sessionOver = (
  socket: MessageSocket,
  side: 'client' | 'server',
  { handlers, ...options }: Side,
): LinkSession =>
  createLinkSession({ socket, side, handlers: { ...echo, ...handlers }, clock: systemClock, ...options });

export const sessionOf = (ws: WebSocket, side: 'client' | 'server', options: Side): LinkSession =>
  sessionOver(socketOf(ws), side, options);

/** A session of the server's side, and a peer that writes frames itself. */
export interface Raw {
  readonly session: LinkSession;
  readonly ws: WebSocket;
  readonly frames: Frame[];
  send(frame: Partial<Frame> & Pick<Frame, 'type' | 'stream'>): void;
  /** Resolves once the condition holds, after any frame. */
  until(condition: () => boolean): Promise<void>;
  /** The code with which the session closes. */
  readonly code: Promise<number>;
  close(): Promise<void>;
}

export async function raw(side: Side = {}): Promise<Raw> {
  const opened = Promise.withResolvers<LinkSession>();
  const at = await listening((ws) => opened.resolve(sessionOf(ws, 'server', side)));
  const ws = dial(at.url);
  const frames: Frame[] = [];
  let check = (): void => undefined;
  const { promise: code, resolve } = Promise.withResolvers<number>();
  ws.on('message', (data: Buffer) => {
    frames.push(decodeFrame(data));
    check();
  });
  ws.on('error', () => undefined);
  ws.on('close', resolve);
  await once(ws, 'open');
  return {
    session: await opened.promise,
    ws,
    frames,
    send: (frame) => ws.send(encodeFrame(frame)),
    until: (condition) =>
      new Promise((met) => {
        check = () => {
          if (condition()) met();
        };
        check();
      }),
    code,
    close: () => {
      // One that does not read would not notice that the other end has closed.
      ws.terminate();
      return at.close();
    },
  };
}
