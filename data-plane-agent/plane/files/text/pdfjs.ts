import { createRequire, Module } from 'node:module';
import { dirname, join } from 'node:path';
import type * as Pdfjs from 'pdfjs-dist';

let loaded: Promise<typeof Pdfjs> | undefined;

/** Loads the library. It requires browser globals for rendering at load time, although nothing is rendered here. */
export function pdfjs(): Promise<typeof Pdfjs> {
  class Nothing {}
  const globals = globalThis as Record<string, unknown>;
  for (const name of ['DOMMatrix', 'ImageData', 'Path2D']) globals[name] ??= Nothing;
  withoutCanvas();
  loaded ??= import('pdfjs-dist/legacy/build/pdf.mjs') as Promise<typeof Pdfjs>;
  return loaded;
}

/**
 * Provides an empty module instead of an installed native canvas, which would process hostile files and use 30 MB of
 * memory.
 */
function withoutCanvas(): void {
  const require = createRequire(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
  let path: string;
  try {
    path = require.resolve('@napi-rs/canvas');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return; // optional dependency
    throw error;
  }
  require.cache[path] = Object.assign(new Module(path), { filename: path, loaded: true, exports: {} });
}

/** The library's character maps of Chinese fonts, standard font widths and image decoders. */
export function pdfResources() {
  const folder = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
  const at = (name: string) => `${join(folder, name)}/`;
  return {
    cMapUrl: at('cmaps'),
    cMapPacked: true,
    standardFontDataUrl: at('standard_fonts'),
    wasmUrl: at('wasm'),
    iccUrl: at('iccs'),
  };
}
