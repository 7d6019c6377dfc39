import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout's directory. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** The folders with TypeScript. */
export const sourceFolders = ['data-plane-agent', 'server', 'cli', 'test'] as const;

/** All TypeScript files of the source folders, as paths from the root with forward slashes. */
export function sourceFiles(): string[] {
  return sourceFolders.flatMap((folder) => filesBelow(join(root, folder))).filter((path) => path.endsWith('.ts'));
}

/**
 * All files below a directory, including hidden ones, as paths from the root. Empty if the directory does not exist.
 */
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
 * The imports in a file's text: `import … from`, `export … from`, `import '…'`, `import('…')`. Relative specifiers are
 * converted to the path of the TypeScript file from the root; others are returned as written.
 */
export function importsOf(file: string, text: string): string[] {
  return [...withoutComments(text).matchAll(IMPORT)].map((match) => {
    const specifier = match.slice(1).find((group) => group !== undefined) ?? '';
    return specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier).replace(/\.js$/, '.ts') : specifier;
  });
}

const IMPORT =
  /^[ \t]*(?:import|export)\b[^;'"`]*?\bfrom\s*['"]([^'"\n]+)['"]|^[ \t]*import\s*['"]([^'"\n]+)['"]|\bimport\s*\(\s*['"`]([^'"`\n]+)['"`]/gm;

// For `//` inside a string literal (`'https://…'`) only the rest of the line is removed, which does not affect imports.
const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');
