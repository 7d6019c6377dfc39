/** The kinds of documents that are read, by how they are. */
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

/** `undefined` for what is not read. Parameters of the type are passed over. */
export const kindOf = (contentType: string): Kind | undefined =>
  KINDS[contentType.split(';')[0]?.trim().toLowerCase() ?? ''];

/** Content types of files whose text is read. */
export const READABLE_TYPES: readonly string[] = Object.keys(KINDS);
