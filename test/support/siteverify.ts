import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Siteverify {
  /** The value for `BOT_CHALLENGE_VERIFY_URL`. */
  readonly url: string;
  /** The received requests, as form fields. */
  readonly asked: readonly Readonly<Record<string, string>>[];
  /** Sets the answer to the next requests. */
  answer(reply: (response: ServerResponse, fields: Readonly<Record<string, string>>) => void): void;
  stop(): Promise<void>;
}

/**
 * A verifier of bot challenges over real HTTP. Tokens that begin with `good` are accepted once; all others are refused.
 */
export async function startSiteverify(): Promise<Siteverify> {
  const asked: Record<string, string>[] = [];
  const used = new Set<string>();
  const once200 = (response: ServerResponse, { response: token = '' }: Readonly<Record<string, string>>): void => {
    const passes = token.startsWith('good') && !used.has(token);
    used.add(token);
    response.setHeader('Content-Type', 'application/json');
    response.end(
      JSON.stringify({
        success: passes,
        hostname: 'book.example.test',
        'error-codes': passes ? [] : [token.startsWith('good') ? 'timeout-or-duplicate' : 'invalid-input-response'],
      }),
    );
  };
  let reply = once200;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const fields = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString('utf8')));
      asked.push(fields);
      reply(response, fields);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/siteverify`,
    asked,
    answer: (next) => {
      reply = next;
    },
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
