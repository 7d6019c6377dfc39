import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout's directory. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** The folders that hold TypeScript. */
export const sourceFolders = ['data-plane-agent', 'server', 'cli', 'test'] as const;

/** Every TypeScript file of the source folders, as a path from the root with forward slashes. */
export function sourceFiles(): string[] {
  return sourceFolders.flatMap((folder) => filesBelow(join(root, folder))).filter((path) => path.endsWith('.ts'));
}

/** Every file below a directory, hidden ones too, as paths from the root. A directory that is not there has none. */
export function filesBelow(directory: string): string[] {
  let entries;
  try {
    entries = readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
  return entries
    .flatMap((entry) => {
      const path = join(directory, entry.name);
      return entry.isDirectory() ? filesBelow(path) : [relative(root, path).split('\\').join('/')];
    })
    .toSorted();
}

export const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/**
 * What a file's text imports: `import … from`, `export … from`, `import '…'`, `import('…')`. Relative specifiers come
 * as paths from the root to the TypeScript file, others as written.
 */
export function importsOf(file: string, text: string): string[] {
  return [...withoutComments(text).matchAll(IMPORT)].map((match) => {
    const specifier = match.slice(1).find((group) => group !== undefined) ?? '';
    return specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier).replace(/\.js$/, '.ts') : specifier;
  });
}

const IMPORT =
  /^[ \t]*(?:import|export)\b[^;'"`]*?\bfrom\s*['"]([^'"\n]+)['"]|^[ \t]*import\s*['"]([^'"\n]+)['"]|\bimport\s*\(\s*['"`]([^'"`\n]+)['"`]/gm;

// A comment that begins inside a string literal (`'https://…'`) is only cut to the line's end, which imports survive.
const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');
