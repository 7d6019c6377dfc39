import { checker } from '../../../data-plane-agent/base/validation.js';
import { s, type Static } from '../../../data-plane-agent/base/schema.js';
import { EXPORTED } from '../../../data-plane-agent/plane/tables/exported.js';
import { ArchiveFault } from './archive-fault.js';

export const FORMAT = 'duebook-tenant-data';
export const FORMAT_VERSION = 1;

export const MANIFEST = 'manifest.json';
/** In the format of `sha256sum`. */
export const SUMS = 'SHA256SUMS';
export const RECORDS = 'records';
export const FILES = 'files';

/** The kinds of the platform database, those that others refer to first. */
export const PLATFORM_KINDS = ['organisation', 'roles', 'members', 'subjectCompanies', 'channels'] as const;
export type PlatformKind = (typeof PLATFORM_KINDS)[number];

export const KINDS: readonly string[] = [...PLATFORM_KINDS, ...EXPORTED.map(({ kind }) => kind)];

export const fileOfKind = (kind: string): string => `${RECORDS}/${kind}.jsonl`;

/** The longest line that is read: a report of an import with all its rejected rows. */
export const MAX_LINE_BYTES = 128 * 1024 * 1024;

const count = () => s.integer({ max: Number.MAX_SAFE_INTEGER });
const sha256 = () => s.text({ min: 64, max: 64, pattern: '^[0-9a-f]{64}$' });
const fileIds = () => s.list(s.id(), 1_000_000);

export const Manifest = s.object({
  format: s.text({ max: 64 }),
  formatVersion: count(),
  exportId: s.id(),
  /** What made it. */
  product: s.object({ name: s.text({ max: 100 }), version: s.text({ max: 100 }) }),
  /** Equal in two versions of the program with the same kinds and fields. */
  schema: sha256(),
  createdAt: s.text({ max: 30 }),
  organisation: s.object({ id: s.id(), slug: s.text({ max: 100 }), name: s.text({ max: 500 }) }),
  records: s.list(
    s.object({
      kind: s.text({ max: 64 }),
      file: s.text({ max: 100 }),
      count: count(),
      bytes: count(),
      sha256: sha256(),
    }),
    200,
  ),
  /** `missing`: the object store has lost the bytes; `different`: they are other bytes than were uploaded. */
  files: s.object({ count: count(), bytes: count(), missing: fileIds(), different: fileIds() }),
  leftOut: s.list(s.object({ what: s.text({ max: 200 }), why: s.text({ max: 500 }) }), 100),
});
export type Manifest = Static<typeof Manifest>;
export type KindSummary = Manifest['records'][number];

const check = checker(Manifest);

/** Throws TENANT_DATA_INVALID, or TENANT_DATA_VERSION for the format of another version. */
export function manifestOf(text: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ArchiveFault('TENANT_DATA_INVALID', `${MANIFEST} is not JSON`, { cause: error });
  }
  const { format, formatVersion } = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  if (format !== FORMAT)
    throw new ArchiveFault(
      'TENANT_DATA_INVALID',
      `${MANIFEST}: format is not ${FORMAT}: this is no export of "duebook tenants export-data"`,
    );
  if (formatVersion !== FORMAT_VERSION)
    throw new ArchiveFault(
      'TENANT_DATA_VERSION',
      `${MANIFEST}: formatVersion is ${String(formatVersion)}; this program reads ${FORMAT_VERSION}`,
    );
  const checked = check(value);
  if (checked.ok) return checked.value;
  const [issue] = checked.issues;
  throw new ArchiveFault(
    'TENANT_DATA_INVALID',
    `${MANIFEST}: ${issue?.path ?? ''} ${issue?.problem ?? 'is not valid'}`,
  );
}
