import { request } from 'node:http';
import { parentPort } from 'node:worker_threads';

/** Sends requests from a separate thread, so that a test that measures the server's thread does not measure itself. */
export interface ToSend {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer> | undefined;
}
export interface Sent {
  readonly status: number;
  /** The beginning of the answer. */
  readonly text: string;
}

parentPort?.on('message', ({ url, method, headers, body }: ToSend) => {
  let isReported = false;
  const report = (sent: Sent): void => {
    if (!isReported) parentPort?.postMessage(sent);
    isReported = true;
  };
  const sent = request(url, { method, headers }, (answer) => {
    const pieces: Buffer[] = [];
    answer.on('data', (piece: Buffer) => void (pieces.length < 4 && pieces.push(piece)));
    answer.on('end', () =>
      report({ status: answer.statusCode ?? 0, text: Buffer.concat(pieces).toString().slice(0, 300) }),
    );
  });
  // A server may answer and stop reading while a body is still being sent: its answer takes precedence over the error.
  sent.on('error', (error) => setTimeout(() => report({ status: 0, text: error.message }), 200));
  sent.end(body);
});
