import { createRequire, Module } from 'node:module';
import { dirname, join } from 'node:path';
import type * as Pdfjs from 'pdfjs-dist';

let loaded: Promise<typeof Pdfjs> | undefined;

/** The library draws with what a browser has, and nothing is drawn here; but it looks for that when it is loaded. */
export function pdfjs(): Promise<typeof Pdfjs> {
  class Nothing {}
  const globals = globalThis as Record<string, unknown>;
  for (const name of ['DOMMatrix', 'ImageData', 'Path2D']) globals[name] ??= Nothing;
  withoutCanvas();
  loaded ??= import('pdfjs-dist/legacy/build/pdf.mjs') as Promise<typeof Pdfjs>;
  return loaded;
}

/**
 * It would load a native canvas beside it wherever that is installed: for hostile files, and thirty megabytes of
 * memory. It finds an empty module instead.
 */
function withoutCanvas(): void {
  const require = createRequire(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
  let path: string;
  try {
    path = require.resolve('@napi-rs/canvas');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return; // an optional dependency of the library
    throw error;
  }
  require.cache[path] = Object.assign(new Module(path), { filename: path, loaded: true, exports: {} });
}

/**
 * Character maps of Chinese fonts, the widths of the standard fonts and the decoders of pictures lie beside the
 * library.
 */
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
