/** The option that every command has. */
export const JSON_OPTION = ['--json', 'answer in JSON, for scripts'] as const;

/** Examples under a command's help. */
export const examples = (...lines: readonly string[]): string =>
  `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.map((line) => `  $ ${line}`).join('\n')}`;

/** Formats a JSON value for output. */
export const jsonText = (value: unknown): string => JSON.stringify(value, null, 2);
