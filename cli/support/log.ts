import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { misuse } from '../errors.js';
import type { Redact } from './redact.js';

/** The fields of log lines that have neither names nor data; `err` is reduced to its type, code and places in our code. */
const KEPT = [
  'level',
  'time',
  'msg',
  'method',
  'route',
  'status',
  'ms',
  'job',
  'queue',
  'topic',
  'attempt',
  'final',
  'step',
  'reason',
];
const MOST_BYTES = 16 * 2 ** 20;

/** The last lines of a log file of the server, as JSON lines. Lines of another form are left out. */
export function logLines(
  path: string,
  { lines, redact }: { readonly lines: number; readonly redact: Redact },
): { readonly text: string; readonly kept: number; readonly leftOut: number } {
  const all = tailOf(path)
    .split('\n')
    .filter((line) => line !== '')
    .slice(-lines);
  const kept = all.flatMap((line) => {
    const value = jsonOf(line);
    return value === undefined ? [] : [redact(JSON.stringify(reduced(value)))];
  });
  return { text: kept.map((line) => `${line}\n`).join(''), kept: kept.length, leftOut: all.length - kept.length };
}

function tailOf(path: string): string {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    throw misuse(
      `--log ${path} cannot be read: ${error instanceof Error && 'code' in error ? String(error.code) : ''}`,
    );
  }
  try {
    const { size } = fstatSync(file);
    const buffer = Buffer.alloc(Math.min(size, MOST_BYTES));
    const read = readSync(file, buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8', 0, read);
  } finally {
    closeSync(file);
  }
}

type Line = Readonly<Record<string, unknown>>;

function jsonOf(line: string): Line | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Line) : undefined;
  } catch {
    return undefined; // a line of another program, or cut
  }
}

function reduced(line: Line): Line {
  const { err } = line;
  return {
    ...Object.fromEntries(KEPT.filter((name) => isPlain(line[name])).map((name) => [name, line[name]])),
    ...(typeof err === 'object' && err !== null ? { err: reducedError(err as Line) } : {}),
  };
}

/** The message of an error may quote data. */
const reducedError = ({ type, code, stack }: Line): Line => ({
  ...(isPlain(type) ? { type } : {}),
  ...(isPlain(code) ? { code } : {}),
  ...(typeof stack === 'string'
    ? {
        at: stack
          .split('\n')
          .filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line))
          .map(place),
      }
    : {}),
});

/** The function and the file within the package, without the folder of the installation. */
const place = (line: string): string =>
  line.trim().replaceAll(/(?:file:\/\/)?\/\S*\/((?:dist|node_modules|node:)\S*)/g, '$1');

const isPlain = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);
