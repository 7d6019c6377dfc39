const DAY_MS = 86_400_000;

/** Unconfirmed uploads and unknown objects are removed after this time. */
export const STRAY_MS = DAY_MS;
/** How long the URL and the token of an upload are valid. */
export const UPLOAD_GOOD_MS = 15 * 60_000;
/** How long infected files are kept for investigation. */
export const QUARANTINE_MS = 30 * DAY_MS;
/**
 * Files are kept longer than their deleted contract by this margin, so that a contract restored at the last moment has
 * its files.
 */
export const RESTORE_MARGIN_MS = 60 * 60_000;
