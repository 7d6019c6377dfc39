import type { DiagLogger } from '@opentelemetry/api';
import type { Clock } from '../clock.js';
import type { Log } from '../log.js';

/** How the sending of spans goes. */
export interface ExportReport {
  accepted(): void;
  /** A batch was given up. */
  lost(spans: number, error: Error): void;
}

/** How often the log says that spans are still lost. */
const AGAIN_MS = 10 * 60_000;
const MOST_CHARACTERS = 300;

/** One line when the collector begins to refuse spans or to be away, one every ten minutes, and one at the end. */
export function reportExports({ clock, log }: { readonly clock: Clock; readonly log: Log }): ExportReport {
  let lost = 0;
  let saidAt: number | undefined;
  return {
    accepted: () => {
      if (saidAt !== undefined) log.info({ lost }, 'spans are sent again');
      saidAt = undefined;
      lost = 0;
    },
    lost: (spans, error) => {
      lost += spans;
      const now = clock.now();
      if (saidAt !== undefined && now - saidAt < AGAIN_MS) return;
      saidAt = now;
      // Not what the collector said: it may repeat what it was sent, a header among it.
      const code = 'code' in error && error.code;
      const reason = typeof code === 'string' || typeof code === 'number' ? String(code) : error.name;
      log.warn(
        { lost, reason: reason === 'Error' ? error.message.slice(0, MOST_CHARACTERS) : reason },
        'spans were not sent',
      );
    },
  };
}

/** The messages of OpenTelemetry itself, each kind at most once in ten minutes. What is below a warning is left out. */
export function diagnosticsInLog({ clock, log }: { readonly clock: Clock; readonly log: Log }): DiagLogger {
  const saidAt = new Map<string, number>();
  const warn = (...said: readonly unknown[]): void => {
    const message = sentenceOf(said);
    // Without the numbers, in which messages of one kind differ.
    const kind = message.replaceAll(/\d+/g, '').slice(0, 60);
    const now = clock.now();
    if (now - (saidAt.get(kind) ?? -Infinity) < AGAIN_MS) return;
    if (saidAt.size >= MOST_KINDS) saidAt.clear();
    saidAt.set(kind, now);
    log.warn({ message }, 'OpenTelemetry reports a problem');
  };
  const nothing = (): void => undefined;
  return { error: warn, warn, info: nothing, debug: nothing, verbose: nothing };
}

const MOST_KINDS = 100;

/**
 * The sentence of a message: components of the SDK put their name before it, and errors come as JSON with their stack.
 * What follows it is left out, since it may repeat what a collector answered.
 */
function sentenceOf([first, second]: readonly unknown[]): string {
  const text = typeof first === 'string' && !first.includes(' ') && typeof second === 'string' ? second : String(first);
  return (messageIn(text) ?? text).slice(0, MOST_CHARACTERS);
}

function messageIn(text: string): string | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const error: unknown = JSON.parse(text);
    return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : undefined;
  } catch {
    return undefined; // a text that only begins like JSON
  }
}
