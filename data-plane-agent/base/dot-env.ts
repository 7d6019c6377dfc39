import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/**
 * The environment with what a `.env` file adds (KEY=VALUE lines, # comments, quotes). What the environment sets wins.
 * In production the file is not read. A missing file adds nothing; one that cannot be read throws, naming it.
 */
export function loadDotEnv(path: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (env.NODE_ENV === 'production') return env;
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (cause) {
    if (isMissing(cause)) return env;
    throw new Error(`cannot read ${path}`, { cause });
  }
  return { ...parseEnv(content), ...env };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
