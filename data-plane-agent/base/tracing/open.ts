import type { Clock } from '../clock.js';
import type { Lifecycle } from '../lifecycle.js';
import type { Log } from '../log.js';
import type { TracingOptions } from './settings.js';
import type { Tracer } from './spans.js';

export interface TracingParts {
  /** What the program is called in traces, unless a setting names it. */
  readonly serviceName: 'duebook-server' | 'duebook-agent';
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly lifecycle: Pick<Lifecycle, 'onStop'>;
}

/**
 * A tracer whose spans are sent as the settings say; undefined if they say that none are recorded. Only then nothing of
 * OpenTelemetry is loaded. Call it before anything else registers with the lifecycle: its spans are sent last, after
 * all work has ended.
 */
export async function openTracing(
  options: TracingOptions | undefined,
  { lifecycle, ...parts }: TracingParts,
): Promise<Tracer | undefined> {
  if (!options) return undefined;
  const { createSdk } = await import('./sdk.js');
  const sdk = createSdk(options, parts);
  lifecycle.onStop('traces', 'databases', sdk.close);
  return sdk.tracer;
}
