import type { FindingType, Match } from './finding-types.js';

/**
 * Secrets by the forms that their issuers document. Each expression begins at a fixed text and then repeats a single
 * class, so that a run of characters is read once.
 */
export function findSecrets(text: string): Match[] {
  return [
    ...findPrivateKeys(text),
    ...matches('JWT', text, JWT).filter(({ start, end }) => isJwt(text.slice(start, end))),
    ...matches('API_KEY', text, API_KEY),
    ...findNamedKeys(text),
    ...findUrlCredentials(text),
  ];
}

const matches = (type: FindingType, text: string, form: RegExp): Match[] =>
  [...text.matchAll(form)].map(({ 0: found, index }) => ({ type, start: index, end: index + found.length }));

const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;

/** A key whose end is missing extends to the end of the text. */
function findPrivateKeys(text: string): Match[] {
  const found: Match[] = [];
  let from = 0;
  for (const { 0: begin, index } of text.matchAll(KEY_BEGIN)) {
    if (index < from) continue;
    KEY_END.lastIndex = index + begin.length;
    const end = KEY_END.test(text) ? KEY_END.lastIndex : text.length;
    found.push({ type: 'PRIVATE_KEY', start: index, end });
    from = end;
  }
  return found;
}

/** Signed or encrypted (RFC 7519), in compact form: three or five parts. */
const JWT = /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{0,8192}\.[\w-]*(?:\.[\w-]*\.[\w-]*)?/g;

/** Whether the first part is a header with an algorithm. */
function isJwt(token: string): boolean {
  try {
    const header: unknown = JSON.parse(Buffer.from(token.split('.', 1)[0] ?? '', 'base64url').toString('utf8'));
    return typeof header === 'object' && header !== null && 'alg' in header;
  } catch {
    return false; // not JSON: another text that begins like a token
  }
}

/** The prefixes by which issuers mark their keys, so that scanners recognise them. */
const API_KEY = new RegExp(
  `(?<![A-Za-z0-9])(?:${[
    'sk-[\\w-]{20,}', // OpenAI, Anthropic, DeepSeek, OpenRouter
    '(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}', // Stripe
    'whsec_[A-Za-z0-9+/=]{24,}', // Standard Webhooks
    '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])', // AWS
    'LTAI[A-Za-z0-9]{12,30}(?![A-Za-z0-9])', // Alibaba Cloud
    'AKID[A-Za-z0-9]{13,40}(?![A-Za-z0-9])', // Tencent Cloud
    'AIza[\\w-]{35}', // Google
    'ya29\\.[\\w-]{20,}', // Google, access tokens
    'GOCSPX-[\\w-]{20,}', // Google, client secrets
    'gh[pousr]_[A-Za-z0-9]{30,}', // GitHub
    'github_pat_\\w{22,}',
    'gl(?:pat|rt|dt|cbt|ptt|ft|soat)-[\\w-]{20,}', // GitLab
    'xox[abeoprs]-[\\w-]{10,}', // Slack
    'xapp-[\\w-]{10,}',
    'npm_[A-Za-z0-9]{36}', // npm
    'pypi-[\\w-]{16,}', // PyPI
    'SG\\.[\\w-]{16,64}\\.[\\w-]{16,}', // SendGrid
    'hf_[A-Za-z0-9]{30,}', // Hugging Face
    'gsk_[A-Za-z0-9]{20,}', // Groq
    'xai-[A-Za-z0-9]{20,}', // xAI
    'r8_[A-Za-z0-9]{30,}', // Replicate
    'pplx-[A-Za-z0-9]{30,}', // Perplexity
    'hv[sbr]\\.[\\w-]{20,}', // Vault
    'dapi[0-9a-f]{32}', // Databricks
    'do[opr]_v1_[0-9a-f]{32,}', // DigitalOcean
    'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}', // Shopify
    'sq0[a-z]{3}-[\\w-]{22,}', // Square
    'lin_api_[A-Za-z0-9]{30,}', // Linear
    'SK[0-9a-f]{32}(?![A-Za-z0-9])', // Twilio
    '\\d{8,10}:AA[\\w-]{33}', // Telegram
  ].join('|')})`,
  'g',
);

/** A long random value after a word that says that it is a key: `api_key = …`, `Authorization: Bearer …`. */
const NAMED_KEY =
  /(?<![A-Za-z0-9])(?:(?:api|secret|access|private|app|client|auth|encryption)[ _-]?(?:key|secret|token)|secret|token|密钥|密鑰|令牌)["'”’]?\s{0,3}(?:[:=：]|\bis\b|为|是|為)\s{0,3}["'“‘]?([\w+/=.-]{16,4096})|(?<![A-Za-z0-9])bearer\s{1,3}([\w+/=.~-]{16,4096})/dgi;

function findNamedKeys(text: string): Match[] {
  return [...text.matchAll(NAMED_KEY)].flatMap(({ 1: named, 2: bearer, indices }): Match[] => {
    const place = indices?.[1] ?? indices?.[2];
    const value = named ?? bearer ?? '';
    return place && isRandom(value) ? [{ type: 'API_KEY', start: place[0], end: place[1] }] : [];
  });
}

/** Letters and digits in a mixture that no word and no date has. */
const isRandom = (value: string): boolean =>
  /[A-Za-z]/.test(value) && (value.match(/\d/g)?.length ?? 0) >= 2 && new Set(value).size >= 10;

const LONGEST_SCHEME = 30;
const SCHEME = /[A-Za-z0-9+.-]/;
/** Of an authority, in which other characters are percent-encoded. */
const AUTHORITY_END = /[^!-~]|[/?#"'<>\\]/;
const HOST = /^[A-Za-z0-9.:[\]_-]+/;

/** `scheme://user:password@host`, up to the end of the host. */
function findUrlCredentials(text: string): Match[] {
  const found: Match[] = [];
  for (let sign = text.indexOf('://'); sign >= 0; sign = text.indexOf('://', sign + 3)) {
    let start = sign;
    while (start > 0 && sign - start < LONGEST_SCHEME && SCHEME.test(text[start - 1] ?? '')) start--;
    while (start < sign && !/[A-Za-z]/.test(text[start] ?? '')) start++;
    let end = sign + 3;
    while (end < text.length && !AUTHORITY_END.test(text[end] ?? '')) end++;
    // A list may continue after the host without a space.
    const [user = '', ...others] = text.slice(sign + 3, end).split('@');
    const authority = [user, others.join('@').split(/[,;]/, 1)[0] ?? ''].join('@');
    const at = authority.lastIndexOf('@');
    const colon = authority.indexOf(':');
    const host = HOST.exec(authority.slice(at + 1))?.[0].replace(/[.:-]$/, '') ?? '';
    if (start < sign && colon >= 0 && colon < at - 1 && others.length > 0)
      found.push({ type: 'URL_CREDENTIALS', start, end: sign + 3 + at + 1 + host.length });
  }
  return found;
}
