import { readFileSync } from 'node:fs';
import type { Kind } from './config-kinds.js';

export * from './config-kinds.js';
export { loadDotEnv } from './dot-env.js';

/** Exit code of a program whose configuration is at fault (EX_CONFIG of sysexits.h). */
export const CONFIG_EXIT_CODE = 78;

/** One environment variable that a program reads at its start; `NAME_FILE` reads it from a file instead. */
export interface Setting<T, V = T | undefined> {
  readonly name: string;
  /** A sentence for whoever runs the program. */
  readonly about: string;
  readonly kind: Kind<T>;
  /** What one would write in the environment; a function may look at the settings declared before. */
  readonly default?: Written | ((context: DefaultContext) => Written | undefined);
  readonly required?: boolean | 'in production';
  /** Shown to nobody, in no listing. */
  readonly secret?: boolean;
  /** Carries the type of the value and is never set. */
  readonly valueType?: V;
}

type Written = string | number | boolean;

export interface DefaultContext {
  readonly production: boolean;
  /** The text in effect of a setting declared before; undefined when it has none. */
  textOf(name: string): string | undefined;
}

/**
 * Declares a setting. Without a default that always gives something, and unless always required, its value may be
 * undefined.
 */
export function setting<T>(
  it: Setting<T> & ({ required: true } | { default: Written | ((context: DefaultContext) => Written) }),
): Setting<T, T>;
export function setting<T>(it: Setting<T>): Setting<T>;
export function setting<T>(it: Setting<T>): Setting<T> {
  return it;
}

/** All settings of a program, by the names that its code uses: `{ port: setting({ name: 'PORT', … }) }`. */
export type Settings = Readonly<Record<string, Setting<unknown, unknown>>>;
export type Values<S extends Settings> = {
  readonly [K in keyof S]: S[K] extends Setting<infer _, infer V> ? V : never;
};

export interface Fault {
  /** The variable's name. */
  readonly name: string;
  /** Completes the sentence that the name begins: `must be true or false`. */
  readonly problem: string;
}

export type Source = 'default' | 'environment' | 'file' | 'generated';

export type ConfigResult<S extends Settings> =
  | { ok: true; values: Values<S>; sources: Readonly<Record<string, Source>>; warnings: Fault[] }
  | { ok: false; faults: Fault[]; warnings: Fault[] };

/** What holds between settings. A rule that looks at a setting already at fault is left out. */
export type Rule<S extends Settings> = (values: Values<S>, context: { production: boolean }) => Fault[];

export interface ReadOptions<S extends Settings> {
  production: boolean;
  rules?: readonly Rule<S>[];
  /** Rules whose findings are told and do not stop the start. */
  cautions?: readonly Rule<S>[];
  /** Texts that the program made for itself, by variable name: they stand before the default. */
  generated?: Readonly<Record<string, string>>;
  readFile?: (path: string) => string;
}

/** Reads the whole table from the environment and reports every fault at once. An empty variable counts as not set. */
export function readConfig<S extends Settings>(
  settings: S,
  env: NodeJS.ProcessEnv,
  options: ReadOptions<S>,
): ConfigResult<S> {
  const { production, generated = {}, readFile = (path) => readFileSync(path, 'utf8') } = options;
  const faults: Fault[] = [];
  const values: Record<string, unknown> = {};
  const sources: Record<string, Source> = {};
  const texts = new Map<string, string>();
  const context: DefaultContext = { production, textOf: (name) => texts.get(name) };

  for (const [key, declared] of Object.entries(settings)) {
    const { name } = declared;
    const read = textOf(declared, { env, generated, context, readFile });
    const parsed = 'text' in read && read.text !== undefined ? declared.kind.parse(read.text) : undefined;
    if ('problem' in read) faults.push({ name, problem: read.problem });
    else if (parsed === undefined && isRequired(declared, production)) faults.push({ name, problem: 'is required' });
    else if (parsed?.ok === false) faults.push({ name, problem: parsed.problem });
    else values[key] = parsed?.value;
    if ('text' in read && read.text !== undefined) texts.set(name, read.text);
    if ('source' in read) sources[name] = read.source;
  }

  const readable = guarded<S>(settings, values);
  const find = (rules: readonly Rule<S>[] = []) => rules.flatMap((rule) => findings(rule, readable, production));
  const warnings = [...unknownNames(settings, env), ...find(options.cautions)];
  faults.push(...find(options.rules));
  return faults.length > 0 ? { ok: false, faults, warnings } : { ok: true, values: readable, sources, warnings };
}

/** All faults as the lines that a program prints before it exits with `CONFIG_EXIT_CODE`. */
export function reportFaults(faults: readonly Fault[]): string {
  const head =
    faults.length === 1 ? 'The configuration has a fault:' : `The configuration has ${faults.length} faults:`;
  return [head, ...faults.map(({ name, problem }) => `  ${name} ${problem}`)].join('\n');
}

export interface ConfigRow {
  name: string;
  /** As an operator may see it: secrets and passwords masked; null when there is no value. */
  value: string | null;
  source: Source;
  about: string;
}

/** The configuration in effect, in the table's order. */
export function describeConfig<S extends Settings>(settings: S, result: ConfigResult<S> & { ok: true }): ConfigRow[] {
  const values: Readonly<Record<string, unknown>> = result.values;
  return Object.entries(settings).map(([key, { name, about, kind, secret }]) => {
    const value = values[key];
    const shown = value === undefined ? null : secret === true ? '••••' : kind.show(value);
    return { name, value: shown, source: result.sources[name] ?? 'default', about };
  });
}

interface Where {
  env: NodeJS.ProcessEnv;
  generated: Readonly<Record<string, string>>;
  context: DefaultContext;
  readFile: (path: string) => string;
}

type ReadText = { text: string | undefined; source: Source } | { problem: string };

function textOf(declared: Setting<unknown, unknown>, where: Where): ReadText {
  const { name } = declared;
  const direct = present(where.env[name]);
  const path = present(where.env[`${name}_FILE`]);
  if (direct !== undefined && path !== undefined) return { problem: `is set twice: by ${name} and by ${name}_FILE` };
  if (direct !== undefined) return { text: direct, source: 'environment' };
  if (path !== undefined) return textOfFile(name, path, where.readFile);
  const made = where.generated[name];
  if (made !== undefined) return { text: made, source: 'generated' };
  const fallback = typeof declared.default === 'function' ? declared.default(where.context) : declared.default;
  return { text: fallback === undefined ? undefined : String(fallback), source: 'default' };
}

function textOfFile(name: string, path: string, readFile: (path: string) => string): ReadText {
  try {
    // Editors and `echo` end a file with a newline that no secret means.
    const text = readFile(path).replace(/[\r\n]+$/, '');
    return text === '' ? { problem: `is empty in the file that ${name}_FILE names` } : { text, source: 'file' };
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    return { problem: `cannot be read from the file that ${name}_FILE names (${path}: ${reason})` };
  }
}

function present(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

function isRequired({ required }: Setting<unknown, unknown>, production: boolean): boolean {
  return required === true || (required === 'in production' && production);
}

class FaultyValue extends Error {}

/** The values, in which those at fault cannot be looked at. */
function guarded<S extends Settings>(settings: S, values: Record<string, unknown>): Values<S> {
  for (const [key, { name }] of Object.entries(settings)) {
    if (key in values) continue;
    Object.defineProperty(values, key, {
      get: () => {
        throw new FaultyValue(name);
      },
    });
  }
  // Each value was made by the kind of its own setting, which the compiler cannot follow through the loop.
  return values as Values<S>;
}

function findings<S extends Settings>(rule: Rule<S>, values: Values<S>, production: boolean): Fault[] {
  try {
    return rule(values, { production });
  } catch (error) {
    if (error instanceof FaultyValue) return [];
    throw error;
  }
}

const OWN_PREFIX = 'DUEBOOK_';

/** A name with the product's prefix that no setting reads is a mistake that would otherwise go unseen. */
function unknownNames(settings: Settings, env: NodeJS.ProcessEnv): Fault[] {
  const known = new Set(Object.values(settings).flatMap(({ name }) => [name, `${name}_FILE`]));
  const strangers = Object.keys(env).filter((name) => name.startsWith(OWN_PREFIX) && !known.has(name));
  return strangers.sort().map((name) => {
    const meant = name.slice(OWN_PREFIX.length);
    return { name, problem: known.has(meant) ? `is not a setting; ${meant} is` : 'is not a setting' };
  });
}
