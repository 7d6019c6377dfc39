/** The variables of a file that shells, systemd, Docker Compose and Node.js read alike: `NAME='value'`, one a line. */
export type Variables = Readonly<Record<string, string>>;

/** Throws RangeError for a value that cannot be written so that all of them read it alike. */
export const envText = (variables: Variables): string =>
  Object.entries(variables)
    .map(([name, value]) => `${name}=${quoted(name, value)}\n`)
    .join('');

function quoted(name: string, value: string): string {
  if (/[\r\n\0]/.test(value)) throw new RangeError(`${name} has a line break`);
  if (!value.includes("'")) return `'${value}'`;
  // In a URL it may be written differently.
  if (/^[a-z0-9]+:\/\//i.test(value)) return `'${value.replaceAll("'", '%27')}'`;
  if (!/["\\$`]/.test(value)) return `"${value}"`;
  throw new RangeError(`${name} has an apostrophe and one of " \\ $ \``);
}

/** The variables of such a file; lines of another form are not read. */
export function variablesIn(text: string): Variables {
  const found: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const match = /^(?:export )?([A-Z][A-Z0-9_]*)=(?:'([^']*)'|"([^"]*)"|([^\s'"]*))\s*$/.exec(line);
    if (match?.[1] !== undefined) found[match[1]] = match[2] ?? match[3] ?? match[4] ?? '';
  }
  return found;
}
