/** The readers of documents. */
export type Kind = 'pdf' | 'docx' | 'xlsx' | 'csv' | 'plain' | 'picture' | 'tiff' | 'heic';

const KINDS: Readonly<Record<string, Kind>> = {
  'application/pdf': 'pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/csv': 'csv',
  'text/plain': 'plain',
  'image/png': 'picture',
  'image/jpeg': 'picture',
  'image/webp': 'picture',
  'image/tiff': 'tiff',
  'image/heic': 'heic',
};

/** `undefined` for unsupported types. Parameters of the type are ignored. */
export const kindOf = (contentType: string): Kind | undefined =>
  KINDS[contentType.split(';')[0]?.trim().toLowerCase() ?? ''];

/** Content types whose text can be read. */
export const READABLE_TYPES: readonly string[] = Object.keys(KINDS);
