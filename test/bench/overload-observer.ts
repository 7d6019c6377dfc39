import { Agent } from 'node:http';
import { answerTo } from './flood.js';

/**
 * A client beside a flood, in a process of its own: it sends few requests, so that what it measures is how long the
 * server takes and not how long answers wait in the process that floods it. It sends a message when it is ready; its parent
 * sends `Observe`, and later any message to end it; it answers with `Observed`.
 */
export interface Observe {
  readonly origin: string;
  readonly token: string;
  readonly paths: readonly string[];
}
export interface Observed {
  readonly answers: readonly { readonly status: number | undefined; readonly ms: number }[];
}

const EVERY_MS = 25;
const TIMEOUT_MS = 10_000;

process.once('message', (message) => {
  const { origin, token, paths } = message as Observe; // from the parent alone
  const agent = new Agent({ keepAlive: true, maxSockets: 200 });
  const asked: ReturnType<typeof answerTo>[] = [];
  const timer = setInterval(
    () =>
      asked.push(answerTo(origin, paths[asked.length % paths.length] ?? '/', { token, agent, timeoutMs: TIMEOUT_MS })),
    EVERY_MS,
  );
  process.once('message', () => {
    clearInterval(timer);
    void Promise.all(asked).then((answers) => {
      agent.destroy();
      process.send?.({ answers } satisfies Observed, () => process.disconnect());
    });
  });
});
process.send?.('ready');
