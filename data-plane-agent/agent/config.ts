import { createPrivateKey } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import {
  integer,
  origin,
  readConfig,
  setting,
  text,
  url,
  type ConfigResult,
  type DefaultContext,
  type Kind,
  type Rule,
  type Values,
} from '../base/config.js';
import { Component } from '../base/link/messages.js';
import { TRACING_REFUSALS, TRACING_SETTINGS } from '../base/tracing/settings.js';
import type { KeyRing } from '../base/secrets.js';
import { checker } from '../base/validation.js';
import {
  BACKUP_SETTINGS,
  databaseDefault,
  HOST_CAUTIONS,
  HOST_REFUSALS,
  HOST_SETTINGS,
  PROCESS_SETTINGS,
} from '../host/settings.js';

/** In the folder in which the agent is started. */
export const DEFAULT_AGENT_DATA_DIR = './agent-data';

/** An invalid port is reported for PORT only. */
const localAddress = ({ textOf }: DefaultContext): string => {
  const address = `http://localhost:${/^\d{1,5}$/.exec(textOf('PORT') ?? '')?.[0] ?? ''}`;
  return URL.canParse(address) ? address : 'http://localhost';
};

const locationOf = (name: string, what: string) =>
  setting({
    name,
    about: `Where ${what}; reported to the control plane in place of DATA_LOCATION.`,
    kind: location(),
    default: defaultLocation,
  });

/** An invalid location is reported for DATA_LOCATION only. */
function defaultLocation({ textOf }: DefaultContext): string {
  const given = textOf('DATA_LOCATION') ?? '';
  return location().parse(given).ok ? given : '';
}

/** All settings of the agent. `duebook-agent config` and the documentation are generated from this list. */
export const AGENT_SETTINGS = {
  host: PROCESS_SETTINGS.host,
  port: setting({
    name: 'PORT',
    about: 'Port to listen on; 0 picks a free one.',
    kind: integer({ min: 0, max: 65_535 }),
    default: 8090,
  }),
  tlsCert: setting({
    name: 'TLS_CERT',
    about:
      'Certificate with its chain (PEM), to serve https without a proxy; TLS_CERT_FILE reads it from a file. Read at the start.',
    kind: pem('a certificate', (text) => void createSecureContext({ cert: text })),
  }),
  tlsKey: setting({
    name: 'TLS_KEY',
    about: 'Private key of the certificate (PEM); TLS_KEY_FILE reads it from a file.',
    kind: pem('a private key', (text) => void createPrivateKey(text)),
    secret: true,
  }),
  publicUrl: setting({
    name: 'PUBLIC_URL',
    about: 'The URL at which users reach this agent: links to files that it stores itself begin with it.',
    kind: origin(),
    default: localAddress,
  }),
  dataDir: setting({
    name: 'DATA_DIR',
    about: 'Directory of the identity, generated keys, the log of operations, SQLite files and files.',
    kind: text({ max: 4_000 }),
    default: DEFAULT_AGENT_DATA_DIR,
  }),
  ...HOST_SETTINGS,
  tenantDatabaseUrl: setting<string>({
    ...HOST_SETTINGS.tenantDatabaseUrl,
    about: 'Database of contract data.',
    default: databaseDefault('tenant.db'),
  }),
  dataLocation: setting({
    name: 'DATA_LOCATION',
    about:
      'Where the data is stored, such as the name of a region: reported to the control plane, which compares it with the location that the organisation declared.',
    kind: location(),
  }),
  databaseLocation: locationOf('DATABASE_LOCATION', 'the database is'),
  objectStoreLocation: locationOf('OBJECT_STORE_LOCATION', 'files are stored'),
  scannerLocation: locationOf('SCANNER_LOCATION', 'files are scanned'),
  policyFile: setting({
    name: 'POLICY_FILE',
    about:
      'File with the policy of this agent: which operations it refuses, whatever the control plane asks for. Without the file, none.',
    kind: text({ max: 4_000 }),
    default: ({ textOf }) => `${textOf('DATA_DIR') ?? ''}/policy.json`,
  }),
  operationLogDays: setting({
    name: 'OPERATION_LOG_DAYS',
    about: 'Days for which the log of operations is kept.',
    kind: integer({ min: 1, max: 3_650 }),
    default: 90,
  }),
  httpsProxy: setting({
    name: 'HTTPS_PROXY',
    about: 'HTTP proxy through which the agent reaches the control plane, as http://user:password@host:3128.',
    kind: url({ protocols: ['http', 'https'] }),
  }),
  noProxy: setting({
    name: 'NO_PROXY',
    about: 'Hosts that are reached without the proxy, comma-separated.',
    kind: text({ max: 4_000 }),
  }),
  ...BACKUP_SETTINGS,
  logLevel: PROCESS_SETTINGS.logLevel,
  metricsToken: PROCESS_SETTINGS.metricsToken,
  ...TRACING_SETTINGS,
} as const;

export type AgentConfig = Omit<Values<typeof AGENT_SETTINGS>, 'keyRing'> & {
  /** Required in production; elsewhere generated if not set. */
  readonly keyRing: KeyRing;
  /** `NODE_ENV=production`. */
  readonly production: boolean;
};

const refusals: readonly Rule<typeof AGENT_SETTINGS>[] = [
  // These rules concern settings that agents share with the server.
  ...(HOST_REFUSALS as readonly Rule<typeof AGENT_SETTINGS>[]),
  ...TRACING_REFUSALS,
  ({ tlsCert, tlsKey }) => {
    if (tlsCert === undefined && tlsKey === undefined) return [];
    if (tlsKey === undefined) return [{ name: 'TLS_KEY', problem: 'is required with TLS_CERT' }];
    if (tlsCert === undefined) return [{ name: 'TLS_CERT', problem: 'is required with TLS_KEY' }];
    return isUsable(() => void createSecureContext({ cert: tlsCert, key: tlsKey }))
      ? []
      : [{ name: 'TLS_KEY', problem: 'is not the key of the certificate in TLS_CERT' }];
  },
];
const cautions = HOST_CAUTIONS as readonly Rule<typeof AGENT_SETTINGS>[];

/** The variable that `join` reads itself, since it is used once and is no setting. */
export const JOIN_TOKEN_VARIABLE = 'DUEBOOK_JOIN_TOKEN';

/**
 * Reads the settings and reports all faults at once. `secretKeys` are generated keys, for an environment that sets
 * none.
 */
export function readAgentConfig(
  variables: NodeJS.ProcessEnv,
  { secretKeys }: { readonly secretKeys?: string | undefined } = {},
): ConfigResult<typeof AGENT_SETTINGS> {
  const env = Object.fromEntries(Object.entries(variables).filter(([name]) => name !== JOIN_TOKEN_VARIABLE));
  return readConfig(AGENT_SETTINGS, env, {
    production: isProduction(env),
    rules: refusals,
    cautions,
    ...(secretKeys === undefined ? {} : { generated: { SECRET_KEYS: secretKeys } }),
  });
}

export const isProduction = (env: NodeJS.ProcessEnv): boolean => env['NODE_ENV'] === 'production';

/** A text that `read` accepts without throwing. It is never shown. */
function pem(what: string, read: (text: string) => void): Kind<string> {
  return {
    parse: (given) =>
      isUsable(() => read(given)) ? { ok: true, value: given } : { ok: false, problem: `must be ${what} in PEM` },
    show: () => '(PEM)',
  };
}

function isUsable(read: () => void): boolean {
  try {
    read();
    return true;
  } catch {
    return false; // Node.js throws errors of many kinds for invalid PEM
  }
}

/** One line of text, as the control plane accepts it. */
function location(): Kind<string> {
  return {
    parse: (given) => {
      const checked = checker(Component.properties.location)(given.trim());
      return checked.ok
        ? { ok: true, value: String(checked.value ?? '') }
        : { ok: false, problem: checked.issues.map(({ problem }) => problem).join('; ') };
    },
    show: (value) => value,
  };
}
