import { describeConfig } from '../../data-plane-agent/base/config.js';
import { isLoopback } from '../../data-plane-agent/base/loopback.js';
import { SETTINGS } from '../../server/config.js';
import type { LookedAt } from '../installation.js';

/**
 * The settings whose text says nothing about who runs the installation; numbers and truth values never do. Of all others
 * only the form is shown.
 */
export const SHOWN: ReadonlySet<string> = new Set([
  'EDITION',
  'FILE_CONTENT_TYPES',
  'FILE_SCAN_MODE',
  'JWT_ACCESS_TTL',
  'JWT_REFRESH_TTL',
  'MFA_EMAIL_FALLBACK',
  'PASSWORD_RULES',
  'BOT_CHALLENGE_PROVIDER',
  'CALENDAR_PROVIDER',
  'AI_GATEWAY_MODE',
  'AI_GATEWAY_REDACTION_MODE',
  'LOG_LEVEL',
  'OTEL_TRACES_EXPORTER',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
  'OTEL_TRACES_SAMPLER',
]);

export interface SupportedSetting {
  readonly name: string;
  readonly value: string | number | boolean | null;
  readonly source: string;
}

/** The settings in effect, without secrets, names and addresses. */
export function supportedSettings(looked: LookedAt): SupportedSetting[] {
  const values = new Map(Object.entries(SETTINGS).map(([key, { name }]) => [name, valueOf(looked, key)]));
  return describeConfig(SETTINGS, looked).map(({ name, value, source }) => {
    const given = values.get(name);
    if (value === null || typeof given === 'number' || typeof given === 'boolean')
      return { name, value: value === null ? null : (given as number | boolean), source };
    return { name, value: SHOWN.has(name) ? value : formOf(value), source };
  });
}

const valueOf = ({ values }: LookedAt, key: string): unknown => (values as Readonly<Record<string, unknown>>)[key];

/** `postgres: another machine, port 5432, sslmode`, or how long a text is. */
function formOf(text: string): string {
  if (text === '') return '';
  if (!/^[a-z0-9+.-]+:/i.test(text) || !URL.canParse(text)) return `set, ${text.length} characters`;
  const { protocol, hostname, port, searchParams } = new URL(text);
  const where =
    hostname === '' ? 'this machine' : isLoopback(text) || isLocal(hostname) ? 'this machine' : 'another machine';
  return [
    `${protocol} ${where}`,
    ...(port === '' ? [] : [`port ${port}`]),
    ...[...searchParams.keys()].filter((key) => PARAMETERS.has(key)),
  ].join(', ');
}

const isLocal = (hostname: string): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
/** The names of parameters that we document. */
const PARAMETERS = new Set(['tls', 'region', 'style', 'sslmode', 'requireTLS']);
