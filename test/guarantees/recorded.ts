/** Replacements for values that differ between recordings, and for secrets. */
const STAND_INS: Readonly<Record<string, unknown>> = {
  accessToken: 'eyJhbGciOiJFUzI1NiJ9.eyJzY29wZSI6InRlbmFudCJ9.c2lnbmF0dXJl',
  refreshToken: 'eyJhbGciOiJFUzI1NiJ9.eyJzY29wZSI6InJlZnJlc2gifQ.c2lnbmF0dXJl',
  password: 'correct-horse-battery-staple',
  secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  otpauthUrl: 'otpauth://totp/Duebook:lin@huayue.example?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Duebook',
  inviteLink: 'https://book.example.com/invitation#token=t4kAeXmPle',
  token: 't4kAeXmPle-t4kAeXmPle-t4kAeXmPle',
  flowId: 'fl0wAeXmPle-fl0wAeXmPle',
  challenge: 'Y2hhbGxlbmdlLWV4YW1wbGU',
  clientDataJSON: 'Y2xpZW50LWRhdGE',
  attestationObject: 'YXR0ZXN0YXRpb24',
  authenticatorData: 'YXV0aGVudGljYXRvcg',
  signature: 'c2lnbmF0dXJl',
  userHandle: 'dXNlcg',
  rawId: 'Y3JlZGVudGlhbC1pZA',
  uploadUrl: 'https://book.example.com/files/upload/0195a4c2?signature=c2lnbmF0dXJl',
  url: 'https://book.example.com/files/download/0195a4c2?signature=c2lnbmF0dXJl',
  uploadToken: 'dXBsb2FkLXRva2Vu',
  objectKey: 'tenants/0195a4c2/files/0195a4c3',
  isolate: 'server-1',
  requestId: '0195a4c2-7b1e-7000-8000-0000000000aa',
  recoveryCodes: ['a1b2c3d-e4f5g6h-j7k8m9n-p0q1r2s', 't3v4w5x-y6z7a8b-c9d0e1f-g2h3j4k'],
  // They include decoys, which hide whether an account has passkeys.
  allowCredentials: [{ id: 'c3RhbmQtaW4tZXhhbXBsZS0x', type: 'public-key', transports: ['internal'] }],
  // Events are chained in the background.
  position: 88,
  hash: 'a1b2c3d4'.repeat(8),
  ip: '203.0.113.7',
  userAgent: 'Mozilla/5.0',
  state: 'c3RhdGU',
  iss: 'https://sso.example.com',
};

/** An id, or random hexadecimal digits of a request. */
const RANDOM =
  /([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})|(?<![0-9a-f])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{8,}(?![0-9a-f])/g;
/** A random token. */
const TOKEN = /^(?=.*[A-Z])(?=.*[a-z])(?=.*\d)[\w-]{16,}$/;
/** A consent page, whose address has random values. */
const CONSENT_URL =
  'https://accounts.google.com/o/oauth2/v2/auth?client_id=duebook&response_type=code&state=c3RhdGU&code_challenge=Y2hhbGxlbmdl';
const MOST_ITEMS = 2;
const MOST_LINES = 3;

/**
 * Converts a request or an answer to the form of the reference, which is the same in each recording. Ids are numbered in
 * the order in which they occur; long lists and files are truncated.
 */
export function recorder(): (value: unknown) => unknown {
  const ids = new Map<string, string>();
  const idOf = (id: string): string => {
    const known = ids.get(id) ?? `0195a4c2-7b1e-7000-8000-${String(ids.size + 1).padStart(12, '0')}`;
    ids.set(id, known);
    return known;
  };
  const text = (value: string): string =>
    value
      .replaceAll(RANDOM, (run, id?: string) =>
        id === undefined ? 'a1b2c3d4'.repeat(Math.ceil(run.length / 8)).slice(0, run.length) : idOf(id),
      )
      // Random hexadecimal digits may contain no letter.
      .replaceAll(/(?<=[a-z][-_ ]|…)\d{8,}\b/g, (digits) =>
        'a1b2c3d4'.repeat(Math.ceil(digits.length / 8)).slice(0, digits.length),
      )
      .replaceAll(/^\d{6}$/g, '492039')
      .replaceAll(/^[0-9a-z]{7}(-[0-9a-z]{7}){3}$/g, 'a1b2c3d-e4f5g6h-j7k8m9n-p0q1r2s')
      .replaceAll(/(?<=-)[0-9a-f]{6}(?=@)/g, 'a1b2c3')
      .replaceAll(/\b[0-9a-f]{8}(?=@)/g, 'a1b2c3d4')
      // The clock of the recording has no milliseconds: timestamps that have some are older.
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(?!000)\d{3}Z/g, '2026-03-16T02:00:00.000Z')
      .replaceAll(/\bAR-\d+\b/g, 'A-2026-0418')
      .replaceAll(/\bC-\d+\b/g, 'HT-2026-0418')
      .replaceAll(/(?<=harbour-terminal[ -])\d+/g, '1')
      .replaceAll(/\btask-\d+\b/g, 'task-1')
      .replaceAll(/127\.0\.0\.1:\d+|localhost:\d+/g, 'book.example.com');
  const cut = (value: string): string => value.split('\r\n').slice(0, MOST_LINES).join('\r\n');
  const recorded = (value: unknown, key: string): unknown => {
    if (key === 'url' && typeof value === 'string' && value.includes('code_challenge=')) return CONSENT_URL;
    if (key in STAND_INS) return STAND_INS[key];
    if (typeof value === 'string') return TOKEN.test(value) ? 'c3RhbmQtaW4tZXhhbXBsZS0x' : text(cut(value));
    if (Array.isArray(value)) return value.slice(0, MOST_ITEMS).map((item) => recorded(item, ''));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [text(name), recorded(inner, name)]));
  };
  return (value) => recorded(value, '');
}
