import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Context } from 'mocha';
import { skip } from './skip.js';

/**
 * To be called in a `describe` that starts programs of the system: skips its tests where one is not on the PATH, which
 * REQUIRE_SERVICES=1 makes a failure.
 */
export function needsPrograms(...names: readonly string[]): void {
  before(`${names.join(' and ')} on the PATH`, function () {
    skipUnless(this, ...names);
  });
}

/** The same of one test. */
export function skipUnless(context: Context, ...names: readonly string[]): void {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const missing = names.filter((name) => !folders.some((folder) => existsSync(join(folder, name))));
  if (missing.length > 0) skip(context, `not on the PATH: ${missing.join(', ')}`);
}
