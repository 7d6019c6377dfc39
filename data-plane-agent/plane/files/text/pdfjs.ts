import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type * as Pdfjs from 'pdfjs-dist';

let loaded: Promise<typeof Pdfjs> | undefined;

/** The library draws with what a browser has. Nothing is drawn here, but it looks for it when it is loaded, and would load native code instead. */
export function pdfjs(): Promise<typeof Pdfjs> {
  class Nothing {}
  const globals = globalThis as Record<string, unknown>;
  for (const name of ['DOMMatrix', 'ImageData', 'Path2D']) globals[name] ??= Nothing;
  loaded ??= import('pdfjs-dist/legacy/build/pdf.mjs') as Promise<typeof Pdfjs>;
  return loaded;
}

/** Character maps of Chinese fonts, the widths of the standard fonts and the decoders of pictures lie beside the library. */
export function pdfResources() {
  const folder = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
  const at = (name: string) => `${join(folder, name)}/`;
  return { cMapUrl: at('cmaps'), cMapPacked: true, standardFontDataUrl: at('standard_fonts'), wasmUrl: at('wasm'), iccUrl: at('iccs') };
}
