import { join } from 'node:path';
import { envText, type Variables } from './env-file.js';
import type { Answers, Target } from './questions.js';
import type { Secrets } from './settings.js';
import { systemdUnit } from './systemd.js';

/** A file of an installation, by its path in the folder that is written to. */
export interface InstalledFile {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

export interface Installed {
  readonly answers: Answers;
  readonly settings: Variables;
  readonly secrets: Secrets;
  /** The absolute path of the folder that is written to. */
  readonly folder: string;
  /** The Node.js and the compiled programs that run it. */
  readonly node: string;
  readonly programs: string;
  /** Settings that operators have added to the file of an earlier installation. */
  readonly added: Variables;
}

/** The file that has what an installation is asked for and what it made; later runs read the secrets from it. */
export const ENV_FILE: Readonly<Record<Target, string>> = {
  local: 'duebook.env',
  systemd: 'duebook.env',
  compose: '.env',
  helm: 'secret.env',
};

const HEAD =
  '# Written by "duebook install". It has secrets: keep it readable by its owner only, and a copy elsewhere.\n';

export const filesOf = (installed: Installed): readonly InstalledFile[] =>
  FILES[installed.answers.target as Target](installed); // the answer is one of the choices

const FILES: Readonly<Record<Target, (installed: Installed) => readonly InstalledFile[]>> = {
  local: (installed) => [
    envFile(installed, installed.settings),
    script('run', installed, { about: 'Starts the server. SIGTERM ends it.', program: 'server/main.js' }),
    script('duebook', installed, { about: 'The commands, with the settings of this folder.', program: 'cli/main.js' }),
  ],
  systemd: (installed) => [
    envFile(installed, installed.settings),
    { path: 'duebook.service', text: systemdUnit(installed), mode: 0o644 },
    script(
      'duebook',
      { ...installed, folder: '/etc/duebook' },
      {
        about: 'The commands, with the settings of the service.',
        program: 'cli/main.js',
      },
    ),
  ],
  compose: composeFiles,
  helm: helmFiles,
};

const envFile = ({ answers, added }: Installed, variables: Variables): InstalledFile => ({
  path: ENV_FILE[answers.target as Target],
  text: HEAD + envText({ ...variables, ...added }),
  mode: 0o600,
});

const script = (
  path: string,
  { folder, node, programs }: Pick<Installed, 'folder' | 'node' | 'programs'>,
  { about, program }: { readonly about: string; readonly program: string },
): InstalledFile => ({
  path,
  text: `#!/bin/sh
# ${about}
set -eu
set -a
. ${shellWord(join(folder, 'duebook.env'))}
set +a
exec ${shellWord(node)} ${shellWord(join(programs, program))} "$@"
`,
  mode: 0o755,
});

export const shellWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Secrets of docker/compose.yaml, each the content of a file in `secrets`, which the users of the containers must be able to read. */
function composeFiles(installed: Installed): readonly InstalledFile[] {
  const { settings, secrets } = installed;
  const { PUBLIC_URL = '', OBJECT_STORE_PUBLIC_URL = '', SMTP_URL, MAIL_FROM, METRICS_TOKEN = '' } = settings;
  const contents: Variables = {
    secret_keys: secrets.secretKeys,
    platform_database_url: settings['PLATFORM_DATABASE_URL'] ?? '',
    tenant_database_url: settings['TENANT_DATABASE_URL'] ?? '',
    object_store_url: settings['OBJECT_STORE_URL'] ?? '',
    postgres_password: secrets.databasePassword,
    database_password: secrets.databasePassword,
    object_store_user: 'duebook',
    object_store_password: secrets.objectStorePassword,
  };
  return [
    envFile(installed, {
      PUBLIC_URL,
      OBJECT_STORE_PUBLIC_URL,
      ...(SMTP_URL === undefined || MAIL_FROM === undefined ? {} : { SMTP_URL, MAIL_FROM }),
      METRICS_TOKEN,
    }),
    ...Object.entries(contents).map(([name, text]) => ({ path: join('secrets', name), text, mode: 0o644 })),
  ];
}

/** Which settings of the Secret the chart reads; all others are values. */
const IN_SECRET = [
  'SECRET_KEYS',
  'METRICS_TOKEN',
  'SMTP_URL',
  'PLATFORM_DATABASE_URL',
  'TENANT_DATABASE_URL',
  'OBJECT_STORE_URL',
];

function helmFiles(installed: Installed): readonly InstalledFile[] {
  const { settings, answers } = installed;
  const type = answers.platformDatabase === 'sqlite' ? 'sqlite' : 'postgres';
  const inS3 = (answers.objectStore ?? '').startsWith('s3:');
  const secret = Object.fromEntries(
    IN_SECRET.flatMap((name) => {
      const value = settings[name];
      // Files on the volume are where the chart mounts it.
      return value === undefined || /^(sqlite|file):/.test(value) ? [] : [[name, value]];
    }),
  );
  const values = {
    publicUrl: settings['PUBLIC_URL'] ?? '',
    edition: settings['EDITION'] ?? '',
    existingSecret: 'duebook',
    database: { type },
    objectStore: {
      type: inS3 ? 's3' : 'folder',
      ...(answers.filesUrl ? { publicUrl: answers.filesUrl } : {}),
    },
    scanner: settings['CLAMAV_URL'] === undefined ? { mode: 'off' } : { mode: 'clamav', url: settings['CLAMAV_URL'] },
    persistence: { enabled: type === 'sqlite' || (!inS3 && settings['EDITION'] !== 'enterprise_hybrid') },
    settings: {
      TRUST_PROXY: settings['TRUST_PROXY'] ?? '',
      ...(settings['MAIL_FROM'] === undefined ? {} : { MAIL_FROM: settings['MAIL_FROM'] }),
    },
  };
  return [
    // kubectl takes such a file literally, quotes included.
    {
      path: ENV_FILE.helm,
      text: Object.entries({ ...secret, ...installed.added })
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
      mode: 0o600,
    },
    // JSON is YAML.
    { path: 'values.yaml', text: `${JSON.stringify(values, null, 2)}\n`, mode: 0o644 },
  ];
}
