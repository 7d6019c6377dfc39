import type { Background } from '../base/background.js';
import type { Lifecycle } from '../base/lifecycle.js';
import type { Schedules } from '../base/schedules.js';
import type { DocumentReader } from '../plane/files/text/document-text.js';

/** The parts of a hosted plane that run in the background. */
export interface HostedWork {
  readonly background: Pick<Background, 'settled'>;
  readonly files: { readonly documents: Pick<DocumentReader, 'close'> };
}

/**
 * Registers the shutdown of a process that may host a plane: document readings are aborted, schedules and background
 * work complete, then `close` runs.
 */
export function stopInOrder(
  lifecycle: Lifecycle,
  {
    hosted,
    schedules,
    close,
  }: {
    readonly hosted: HostedWork | undefined;
    readonly schedules: Pick<Schedules, 'stop'>;
    readonly close: () => Promise<void>;
  },
): void {
  lifecycle.onStop('databases', 'databases', close);
  if (hosted) lifecycle.onStop('background', 'work', hosted.background.settled);
  lifecycle.onStop('schedules', 'work', () => schedules.stop());
  // Runs first, since the others would wait for running readings; an aborted one is resumed by the next process.
  if (hosted) lifecycle.onStop('documents', 'work', () => hosted.files.documents.close());
}
