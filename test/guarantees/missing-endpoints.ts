/**
 * Routes of the API document and of our additions that do not exist yet. Entries are removed when a route is built, and
 * never added.
 */
export const MISSING: readonly string[] = `
  GET /collections/preview
  POST /collections/remind
  POST /collections/remind-bulk
  POST /collections/run-due-reminders
`
  .split('\n')
  .map((line) => line.trim())
  .filter((line) => line !== '');
