import { createRequire } from 'node:module';
import { UnreadableDocument } from './document-text.js';
import { readPicture } from './ocr.js';
import { reduced } from './pdf-picture.js';
import { MAX_DOTS, type Size } from './picture-size.js';
import type { Reading } from './reading.js';

/**
 * Reads the main picture of a HEIC, as phones take them: turned the way it was taken. How large it is unpacked is
 * looked up before it is.
 */
export async function readHeic(bytes: Uint8Array, reading: Reading): Promise<void> {
  await readPicture(reduced(lightOf(bytes)), 1, reading);
}

function lightOf(bytes: Uint8Array): Size & { readonly grey: Uint8Array } {
  const heif = started();
  const file = heif.heif_context_alloc();
  checked(heif, heif.heif_context_read_from_memory(file, bytes));
  const picture = checked(heif, heif.heif_js_context_get_primary_image_handle(file));
  if (heif.heif_image_handle_get_width(picture) * heif.heif_image_handle_get_height(picture) > MAX_DOTS)
    throw tooLarge();
  const { channels } = checked(
    heif,
    heif.heif_js_decode_image2(picture, heif.heif_colorspace.heif_colorspace_YCbCr, heif.heif_chroma.heif_chroma_420),
  );
  // The first is how light each dot is, in eight bits or more; the others, its hue, say nothing to character
  // recognition.
  const [light] = channels;
  if (!light || light.bits_per_pixel < 8) throw new UnreadableDocument('damaged', 'the picture cannot be read');
  const { width, height, stride, bits_per_pixel: bits } = light;
  const data = Buffer.from(light.data.buffer, light.data.byteOffset, light.data.byteLength);
  const grey = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++)
      grey[y * width + x] =
        bits === 8 ? (data[y * stride + x] ?? 0) : data.readUInt16LE(y * stride + 2 * x) >> (bits - 8);
  }
  return { width, height, grey };
}

/** What the library answers where it fails, in place of what it was asked for. */
interface Failure {
  readonly code: object;
  readonly message: string;
}

interface Channel extends Size {
  readonly data: Uint8Array;
  /** Bytes from one row to the next. */
  readonly stride: number;
  readonly bits_per_pixel: number;
}

/** Of the library what is used here; things of its own are passed on as they are. */
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
 * The library and all its memory, for one picture: it never gives memory back, and one that was stopped by a damaged
 * picture is of no use any more. It is loaded when the first HEIC is read; its WebAssembly is part of its code, so
 * nothing is fetched.
 */
const started = (): Heif =>
  (createRequire(import.meta.url)('libheif-js/libheif-wasm/libheif-bundle.js') as () => Heif)();

const tooLarge = (): UnreadableDocument =>
  new UnreadableDocument('too_large', `the picture has more than ${MAX_DOTS / 1_000_000} million dots`);

function checked<T extends object>({ heif_error_code: codes }: Heif, answer: T | Failure): T {
  if (!('code' in answer) || answer.code === codes['heif_error_Ok']) return answer as T; // no failure
  if (answer.code === codes['heif_error_Memory_allocation_error']) throw tooLarge();
  if (
    answer.code === codes['heif_error_Unsupported_filetype'] ||
    answer.code === codes['heif_error_Unsupported_feature']
  )
    throw new UnreadableDocument('unsupported', 'the picture is of a kind of HEIF that is not read');
  throw new UnreadableDocument('damaged', 'the picture is damaged, or not of its kind', { cause: answer });
}
