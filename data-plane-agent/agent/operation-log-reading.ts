import { dayFiles, linesOf, parsedLine, type DayFile, type StoredEntry } from './operation-log-files.js';

export interface EntryFilter {
  /** Instants in the form of the entries, ISO 8601 in UTC, which compare as text. */
  readonly from?: string | undefined;
  readonly before?: string | undefined;
  readonly operation?: string | undefined;
  /** The newest ones, at most so many. */
  readonly limit?: number | undefined;
}

/** The entries of the log that match, oldest first. Lines that are no entries are left out: `verifyLog` reports them. */
export async function* entriesOf(folder: string, filter: EntryFilter): AsyncGenerator<StoredEntry> {
  const { from = '', before = '~', limit } = filter;
  const files = dayFiles(folder).filter(({ day }) => day >= from.slice(0, 10) && day <= before.slice(0, 10));
  if (limit === undefined) {
    for (const file of files) yield* matching(file, filter);
    return;
  }
  let found: StoredEntry[] = [];
  for (const file of files.toReversed()) {
    const ofDay: StoredEntry[] = [];
    for await (const entry of matching(file, filter)) {
      ofDay.push(entry);
      if (ofDay.length > 2 * limit) ofDay.splice(0, ofDay.length - limit);
    }
    found = [...ofDay, ...found];
    if (found.length >= limit) break;
  }
  yield* found.slice(-limit);
}

async function* matching({ path }: DayFile, filter: EntryFilter): AsyncGenerator<StoredEntry> {
  const { from = '', before = '~', operation } = filter;
  for await (const { text, isWhole } of linesOf(path)) {
    const entry = isWhole ? parsedLine(text) : undefined;
    if (!entry || 'begins' in entry) continue;
    const at = String(entry['at']);
    if (at >= from && at < before && (operation === undefined || entry['operation'] === operation)) yield entry;
  }
}
