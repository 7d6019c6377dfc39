/** The oldest supported Node.js: better-sqlite3 needs its Node-API 10. */
export const OLDEST_NODE = '22.14.0';

/**
 * The error message for an older Node.js; undefined if the version is supported. Check before importing anything else:
 * native modules crash an older one without a message.
 */
export function nodeFault(version: string): string | undefined {
  if (!isOlder(version, OLDEST_NODE)) return undefined;
  return `Duebook needs Node.js ${OLDEST_NODE} or newer and was started on ${version}: start it through npm ("npm start", "npx duebook"), which uses the Node.js installed by "npm ci", or install Node.js 24.`;
}

/** Compares versions in the format of `process.versions.node`. */
function isOlder(version: string, than: string): boolean {
  const [ours, theirs] = [version, than].map((text) => text.split('.').map((part) => Number.parseInt(part, 10)));
  const at = theirs?.findIndex((part, index) => part !== ours?.[index]) ?? -1;
  return at >= 0 && (ours?.[at] ?? 0) < (theirs?.[at] ?? 0);
}
