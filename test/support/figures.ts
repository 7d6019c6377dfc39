/** Prints what a test has counted or measured, if `TEST_FIGURES` is set. */
export function figures(what: string, found: unknown): void {
  if (process.env['TEST_FIGURES']) process.stderr.write(`      ${what}: ${JSON.stringify(found)}\n`);
}
