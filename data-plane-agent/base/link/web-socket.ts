import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { MessageSocket } from './session.js';

/**
 * A WebSocket as a session uses it. Create the session in the turn in which the WebSocket opens: messages that arrive
 * before it has its listener are lost. With the stream that carries it, several messages are one write: most requests and
 * replies are two, and each write costs both sides a system call and a turn.
 */
export function socketOf(ws: WebSocket, stream?: Duplex): MessageSocket {
  ws.binaryType = 'nodebuffer';
  // 'close' follows.
  ws.on('error', () => undefined);
  return {
    get bufferedAmount() {
      return ws.bufferedAmount;
    },
    send: (data, written) => ws.send(data, { binary: true, compress: false }, written),
    together: (send) => {
      stream?.cork();
      try {
        send();
      } finally {
        stream?.uncork();
      }
    },
    close: (code, reason) => ws.close(code, reason),
    terminate: () => ws.terminate(),
    // A text becomes an empty message, which no frame is: the session closes the connection.
    onMessage: (listener) => ws.on('message', (data: Buffer, isBinary) => listener(isBinary ? data : NOTHING)),
    onClose: (listener) => ws.on('close', (code, reason) => listener(code, reason.toString())),
  };
}

const NOTHING = new Uint8Array(0);
