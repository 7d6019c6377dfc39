import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { onFirstUse } from './on-first-use.js';

/**
 * Collects all garbage, and gives the memory back to the system. Nothing else happens in the process meanwhile: 50 ms
 * for the 35 MB that a server uses after its start, and more in proportion.
 */
export function collectGarbage(): void {
  // Other flavours keep the space for young objects as large as it was.
  collector()({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** V8 has the function only in contexts that are made under this flag. */
function collector(): NodeJS.GCFunction {
  setFlagsFromString('--expose-gc');
  try {
    return runInNewContext('gc') as NodeJS.GCFunction;
  } finally {
    setFlagsFromString('--no-expose-gc');
  }
}

/** How many bytes of streamed content may wait to be collected. A collection takes about a millisecond. */
const STREAMED_BYTES = 16 * 2 ** 20;

const youngCollector = onFirstUse(collector);
let streamedBytes = 0;

/**
 * Called with the size of each piece of content that is streamed through this process. Each is a buffer of its own, next
 * to which its object is tiny: V8 would not collect young objects for minutes, and lets some 100 MB of buffers that
 * nothing refers to gather before it looks through all memory.
 */
export function noteStreamed(bytes: number): void {
  streamedBytes += bytes;
  if (streamedBytes < STREAMED_BYTES) return;
  streamedBytes = 0;
  youngCollector()({ type: 'minor', execution: 'sync' });
}
