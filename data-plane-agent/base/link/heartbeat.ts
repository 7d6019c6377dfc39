import { jsonOf, MalformedFrame } from './frames.js';
import { LINK } from './limits.js';
import type { Timers } from './timers.js';
import type { Writer } from './writer.js';

export interface Heartbeat {
  readonly latencyMs: number | null;
  /** Something arrived. */
  heard(): void;
  /** The other side answered a ping. Throws MalformedFrame. */
  answered(number: number): void;
  /** Resolves to whether the other side answers within the time. */
  ping(timeoutMs: number): Promise<boolean>;
  stop(): void;
}

/** Pings at intervals, and calls `onSilence` once nothing has arrived for too long. One timer, none for each frame. */
export function createHeartbeat({
  writer,
  timers,
  report,
  onSilence,
}: {
  readonly writer: Writer;
  readonly timers: Timers;
  readonly report: () => Readonly<Record<string, unknown>>;
  readonly onSilence: () => void;
}): Heartbeat {
  const waiting = new Map<number, (answered: boolean) => void>();
  const sentAt = new Map<number, number>();
  let latest = 0;
  let latencyMs: number | null = null;
  let heardAt = timers.elapsed();
  let nextAt = heardAt + LINK.heartbeatMs;
  let cancel = (): void => undefined;

  const send = (): number => {
    latest += 1;
    // Of those that are not answered, because a later one replaced them, only the last ones are kept.
    for (const number of sentAt.keys()) if (sentAt.size >= MOST_PINGS) sentAt.delete(number);
    sentAt.set(latest, timers.elapsed());
    writer.ping(latest, jsonOf(report()));
    return latest;
  };

  const tick = (): void => {
    const now = timers.elapsed();
    if (now - heardAt >= LINK.deadMs) return onSilence();
    if (now >= nextAt) {
      nextAt = now + LINK.heartbeatMs;
      send();
    }
    cancel = timers.after(Math.max(1, Math.min(nextAt, heardAt + LINK.deadMs) - now), tick);
    return undefined;
  };
  tick();

  return {
    get latencyMs() {
      return latencyMs;
    },
    heard: () => {
      heardAt = timers.elapsed();
    },
    answered: (number) => {
      if (number > latest) throw new MalformedFrame('a pong answers no ping');
      const at = sentAt.get(number);
      if (at !== undefined) latencyMs = timers.elapsed() - at;
      for (const earlier of sentAt.keys()) if (earlier <= number) sentAt.delete(earlier);
      for (const [earlier, resolve] of waiting) if (earlier <= number) resolve(true);
    },
    ping: (timeoutMs) =>
      new Promise((resolve) => {
        const number = send();
        const stop = timers.after(timeoutMs, () => waiting.get(number)?.(false));
        waiting.set(number, (isAnswered) => {
          stop();
          waiting.delete(number);
          resolve(isAnswered);
        });
      }),
    stop: () => {
      cancel();
      for (const resolve of waiting.values()) resolve(false);
    },
  };
}

const MOST_PINGS = 16;
