/** The oldest Node.js that every part runs on: better-sqlite3 needs Node-API 10, which came with it. */
export const OLDEST_NODE = '22.14.0';

/**
 * What a program says on a Node.js older than that, in one sentence; undefined on one that will do. To be asked before
 * anything else is imported: native modules end the process on an older one without a word.
 */
export function nodeFault(version: string): string | undefined {
  if (!isOlder(version, OLDEST_NODE)) return undefined;
  return `Duebook needs Node.js ${OLDEST_NODE} or newer and was started on ${version}: start it through npm ("npm start", "npx duebook"), which takes the Node.js that "npm ci" has installed, or install Node.js 24.`;
}

/** Versions as `process.versions.node` writes them. */
function isOlder(version: string, than: string): boolean {
  const [ours, theirs] = [version, than].map((text) => text.split('.').map((part) => Number.parseInt(part, 10)));
  const at = theirs?.findIndex((part, index) => part !== ours?.[index]) ?? -1;
  return at >= 0 && (ours?.[at] ?? 0) < (theirs?.[at] ?? 0);
}
