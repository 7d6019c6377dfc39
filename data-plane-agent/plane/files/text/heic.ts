import { createRequire } from 'node:module';
import { UnreadableDocument } from './document-text.js';
import { readPicture } from './ocr.js';
import { reduced } from './pdf-picture.js';
import { MAX_PIXELS, type Size } from './picture-size.js';
import type { Reading } from './reading.js';

/**
 * Reads the primary image of a HEIC, as taken by phones, in its orientation. Its size is checked before it is unpacked.
 */
export async function readHeic(bytes: Uint8Array, reading: Reading): Promise<void> {
  await readPicture(reduced(luminanceOf(bytes)), 1, reading);
}

function luminanceOf(bytes: Uint8Array): Size & { readonly grey: Uint8Array } {
  const heif = started();
  const file = heif.heif_context_alloc();
  checked(heif, heif.heif_context_read_from_memory(file, bytes));
  const picture = checked(heif, heif.heif_js_context_get_primary_image_handle(file));
  if (heif.heif_image_handle_get_width(picture) * heif.heif_image_handle_get_height(picture) > MAX_PIXELS)
    throw tooLarge();
  const { channels } = checked(
    heif,
    heif.heif_js_decode_image2(picture, heif.heif_colorspace.heif_colorspace_YCbCr, heif.heif_chroma.heif_chroma_420),
  );
  // The first channel is the luminance in eight bits or more; character recognition does not need the colour.
  const [luminance] = channels;
  if (!luminance || luminance.bits_per_pixel < 8) throw new UnreadableDocument('damaged', 'the image cannot be read');
  const { width, height, stride, bits_per_pixel: bits } = luminance;
  const data = Buffer.from(luminance.data.buffer, luminance.data.byteOffset, luminance.data.byteLength);
  const grey = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++)
      grey[y * width + x] =
        bits === 8 ? (data[y * stride + x] ?? 0) : data.readUInt16LE(y * stride + 2 * x) >> (bits - 8);
  }
  return { width, height, grey };
}

/** The library's result of a failed call. */
interface Failure {
  readonly code: object;
  readonly message: string;
}

interface Channel extends Size {
  readonly data: Uint8Array;
  /** Bytes per row. */
  readonly stride: number;
  readonly bits_per_pixel: number;
}

/** The part of the library used here, with opaque objects. */
interface Heif {
  readonly heif_error_code: Readonly<Record<string, object>>;
  readonly heif_colorspace: Readonly<Record<'heif_colorspace_YCbCr', object>>;
  readonly heif_chroma: Readonly<Record<'heif_chroma_420', object>>;
  heif_context_alloc(): object;
  heif_context_read_from_memory(file: object, bytes: Uint8Array): Failure;
  heif_js_context_get_primary_image_handle(file: object): object | Failure;
  heif_image_handle_get_width(picture: object): number;
  heif_image_handle_get_height(picture: object): number;
  heif_js_decode_image2(
    picture: object,
    space: object,
    chroma: object,
  ): { readonly channels: readonly Channel[] } | Failure;
}

/**
 * Starts a new instance for each image: the library never frees memory, and is unusable after a damaged image. It is
 * loaded with the first HEIC, and contains its WebAssembly.
 */
const started = (): Heif =>
  (createRequire(import.meta.url)('libheif-js/libheif-wasm/libheif-bundle.js') as () => Heif)();

const tooLarge = (): UnreadableDocument =>
  new UnreadableDocument('too_large', `the image has more than ${MAX_PIXELS / 1_000_000} million pixels`);

function checked<T extends object>({ heif_error_code: codes }: Heif, answer: T | Failure): T {
  if (!('code' in answer) || answer.code === codes['heif_error_Ok']) return answer as T; // no failure
  if (answer.code === codes['heif_error_Memory_allocation_error']) throw tooLarge();
  if (
    answer.code === codes['heif_error_Unsupported_filetype'] ||
    answer.code === codes['heif_error_Unsupported_feature']
  )
    throw new UnreadableDocument('unsupported', 'the image is in an unsupported HEIF format');
  throw new UnreadableDocument('damaged', 'the image is damaged, or is not what its type says', { cause: answer });
}
