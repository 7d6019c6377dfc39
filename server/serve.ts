import { openFront } from '../data-plane-agent/base/http/front.js';
import type { Lifecycle } from '../data-plane-agent/base/lifecycle.js';
import type { Log } from '../data-plane-agent/base/log.js';
import type { OpenedFiles } from '../data-plane-agent/plane/files/open-services.js';
import { compose, type Composed, type ComposeOptions } from './compose.js';
import type { Config } from './config.js';

export interface Serving extends Composed {
  readonly port: number;
}

/** Listens, composes, and becomes ready: while databases migrate, probes are answered and everything else is 503. The lifecycle stops it. */
export async function serve(config: Config, options: Omit<ComposeOptions, 'accepting'> & { lifecycle: Lifecycle }): Promise<Serving> {
  const { clock, log, lifecycle } = options;
  const front = await openFront({ host: config.host, port: config.port, clock, log });
  lifecycle.onStop('http', 'server', front.stop);
  const composed = await compose(config, { ...options, accepting: () => lifecycle.state === 'ready' });
  lifecycle.onStop('databases', 'databases', composed.close);
  lifecycle.onStop('background', 'work', composed.foundation.background.settled);
  lifecycle.onStop('schedules', 'work', () => composed.schedules.stop());
  // First of all, or the others would wait for what is being read: it is put off, and taken up by the next process.
  lifecycle.onStop('documents', 'work', async () => composed.foundation.files?.documents.close());
  front.serve(composed.app);
  composed.schedules.start();
  composed.foundation.background.add(checkFiles(composed.foundation.files, log));
  lifecycle.ready();
  return { ...composed, port: front.port };
}

/** Says what the object store does not allow, and whether the scanner can be relied on. Files wait for them and nothing else does, so the start does not. */
async function checkFiles(files: OpenedFiles | undefined, log: Log): Promise<void> {
  if (!files) return;
  const probe = files.objects.probe().catch((error: unknown) => {
    log.error({ err: error }, 'the object store could not be looked at');
    return [];
  });
  for (const { step, problem: found, fix } of await probe) log.error({ step, fix }, `the object store cannot be used as files need it: ${found}`);
  await files.scanner.selfTest(); // says itself how it went
}
