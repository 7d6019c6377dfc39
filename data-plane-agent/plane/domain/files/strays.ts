const DAY_MS = 86_400_000;

/** An upload that nobody confirmed, and an object that nobody knows, goes after this time. */
export const STRAY_MS = DAY_MS;
/** How long URL and token of an upload are good. */
export const UPLOAD_GOOD_MS = 15 * 60_000;
/** What is infected is kept so long for whoever looks into it. */
export const QUARANTINE_MS = 30 * DAY_MS;
/** A contract that is brought back in its last moment finds its files. */
export const RESTORE_MARGIN_MS = 60 * 60_000;
