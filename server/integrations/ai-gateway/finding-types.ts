/** What is searched for. If two matches are equally long, the type that is listed first is reported. */
export const FINDING_TYPES = [
  'PRIVATE_KEY',
  'JWT',
  'API_KEY',
  'URL_CREDENTIALS',
  'TENANT_TAX_NO',
  'TENANT_ACCOUNT',
  'CN_ID',
  'USCC',
  'IBAN',
  'BANK_CARD',
  'PHONE',
  'PASSPORT',
  'EMAIL',
  'IP_ADDRESS',
] as const;
export type FindingType = (typeof FINDING_TYPES)[number];

const SECRETS: ReadonlySet<FindingType> = new Set(['PRIVATE_KEY', 'JWT', 'API_KEY', 'URL_CREDENTIALS']);

/** Whether the type is a secret, which is never masked but blocks the request. */
export const isSecret = (type: FindingType): boolean => SECRETS.has(type);

/** A part of a text: `end` is exclusive. */
export interface Match {
  readonly type: FindingType;
  readonly start: number;
  readonly end: number;
}
