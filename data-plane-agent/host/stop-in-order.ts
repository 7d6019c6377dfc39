import type { Background } from '../base/background.js';
import type { Lifecycle } from '../base/lifecycle.js';
import type { Schedules } from '../base/schedules.js';
import type { DocumentReader } from '../plane/files/text/document-text.js';

/** What of a hosted plane goes on by itself. */
export interface Going {
  readonly background: Pick<Background, 'settled'>;
  readonly files: { readonly documents: Pick<DocumentReader, 'close'> };
}

/**
 * Registers the end of a process that may host a plane: readings are given up, schedules and what goes on after its
 * answer come to their end, then `close`.
 */
export function stopInOrder(
  lifecycle: Lifecycle,
  {
    hosted,
    schedules,
    close,
  }: {
    readonly hosted: Going | undefined;
    readonly schedules: Pick<Schedules, 'stop'>;
    readonly close: () => Promise<void>;
  },
): void {
  lifecycle.onStop('databases', 'databases', close);
  if (hosted) lifecycle.onStop('background', 'work', hosted.background.settled);
  lifecycle.onStop('schedules', 'work', () => schedules.stop());
  // First of all, or the others would wait for what is being read: it is put off, and taken up by the next process.
  if (hosted) lifecycle.onStop('documents', 'work', () => hosted.files.documents.close());
}
