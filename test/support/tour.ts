import { execFileSync } from 'node:child_process';

/** A step of a tour in a document: a shell block and its documented output. */
export interface Step {
  readonly heading: string;
  readonly command: string;
  /** JSON for `json` blocks, otherwise lines; `undefined` if the document shows no output. */
  readonly answer: { readonly json: unknown } | { readonly lines: readonly string[] } | undefined;
}

/** The steps below one second-level heading: each `sh` block, with the `json` or `text` block that follows it. */
export function stepsOf(document: string, heading: string): Step[] {
  const section = document.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0];
  if (section === undefined) throw new Error(`the document has no section "${heading}"`);
  const steps: Step[] = [];
  let title = heading;
  for (const [, hashes, name, language, body = ''] of section.matchAll(
    /^(?:(###) (.+)|```(\w+)\n([\s\S]*?)\n```)$/gm,
  )) {
    if (hashes) title = name ?? '';
    else if (language === 'sh') steps.push({ heading: title, command: body, answer: undefined });
    else {
      const step = steps.pop();
      if (!step) throw new Error(`an answer without a question under "${title}"`);
      steps.push({
        ...step,
        answer: language === 'json' ? { json: JSON.parse(body) as unknown } : { lines: body.split('\n') },
      });
    }
  }
  return steps;
}

const BETWEEN = '--- end of a step ---';

/** Runs all steps in one shell, like a reader who pastes them one after the other. Returns the output of each. */
export function walk(
  steps: readonly Step[],
  { cwd, replace }: { readonly cwd: string; readonly replace: readonly (readonly [from: string, to: string])[] },
): string[] {
  const script = steps.map(({ command }) => `${command}\necho; echo '${BETWEEN}'`).join('\n');
  const here = replace.reduce((text, [from, to]) => text.replaceAll(from, to), script);
  const printed = execFileSync('bash', ['-eu', '-o', 'pipefail'], {
    input: here,
    cwd,
    encoding: 'utf8',
    timeout: 60_000,
  });
  return printed
    .split(`${BETWEEN}\n`)
    .slice(0, -1)
    .map((text) => text.trim());
}

/**
 * The differences between an answer and the document: in the document `…` matches any value, fields may be omitted, and
 * a list that ends in `…` may have more elements.
 */
export function differences(shown: unknown, answered: unknown, path = ''): string[] {
  if (shown === '…') return [];
  if (Array.isArray(shown)) {
    if (!Array.isArray(answered)) return [`${path} is no list`];
    const open = shown.at(-1) === '…' && shown.length > 1;
    const wanted = open ? shown.slice(0, -1) : shown;
    const length =
      open || wanted.length === answered.length ? [] : [`${path} has ${answered.length} items, not ${wanted.length}`];
    return [...length, ...wanted.flatMap((item, i) => differences(item, answered[i], `${path}[${i}]`))];
  }
  if (typeof shown === 'object' && shown !== null) {
    if (typeof answered !== 'object' || answered === null) return [`${path} is no object`];
    const record = answered as Record<string, unknown>;
    return Object.entries(shown).flatMap(([key, value]) =>
      key in record ? differences(value, record[key], `${path}.${key}`) : [`${path}.${key} is missing`],
    );
  }
  return shown === answered ? [] : [`${path} is ${JSON.stringify(answered)}, not ${JSON.stringify(shown)}`];
}
