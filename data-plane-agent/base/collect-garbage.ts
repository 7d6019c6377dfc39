import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Collects all garbage, and gives the memory back to the system. Nothing else happens in the process meanwhile: 50 ms
 * for the 35 MB that a server uses after its start, and more in proportion.
 */
export function collectGarbage(): void {
  // V8 has the function only in contexts that are made under this flag.
  setFlagsFromString('--expose-gc');
  try {
    const collect = runInNewContext('gc') as NodeJS.GCFunction;
    // Other flavours keep the space for young objects as large as it was.
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  } finally {
    setFlagsFromString('--no-expose-gc');
  }
}
