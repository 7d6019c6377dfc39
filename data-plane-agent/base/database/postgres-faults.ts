import { CONNECT_TIMEOUT_MS, postgresTarget, type PostgresTarget } from './postgres-identity.js';

/** Why a PostgreSQL database cannot be opened, and what to do. `code` is the driver's, if the error has one. */
export interface ConnectionFault {
  readonly code: string | undefined;
  readonly problem: string;
  readonly fix: string;
}

/** Explains an error of connecting to `url`, the value of the setting `name`. Never contains the password. */
export function connectionFault(error: unknown, { url, name }: { url: string; name: string }): ConnectionFault {
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  const file = certificateFileOf(error);
  // The driver reads the file when it parses the URL, so host, port and user are unknown too.
  if (file !== undefined)
    return {
      code,
      problem: `the file ${file} that the URL names cannot be read (${code})`,
      fix: `correct sslrootcert, sslcert or sslkey in ${name}, or let this user read the file`,
    };
  if (isUnencoded(url))
    return {
      code,
      problem: `the URL has an @ after its host, as if a character of the user name or password were not percent-encoded${code === undefined ? '' : ` (${code})`}`,
      fix: `percent-encode / # ? @ : % in the user name and password of ${name}: p@ss/1 is written p%40ss%2F1; an @ in the name of the database is written %40`,
    };
  const target = postgresTarget(url);
  const kind = KINDS.find(({ codes, messages }) =>
    code === undefined ? messages?.test(message) === true : codes.test(code),
  );
  const { problem, fix } = kind?.say({ ...target, at: addressOf(target), name }) ?? {
    problem: `cannot be used: ${message}`,
    fix: `check that the PostgreSQL server of ${name} runs and is reachable from here`,
  };
  return { code, problem: code === undefined ? problem : `${problem} (${code})`, fix };
}

/**
 * Whether a special character of the user name or password seems to be unencoded: the URL then names a part of the
 * password as host, user or database, so that none of them may be printed.
 */
function isUnencoded(url: string): boolean {
  const { pathname, search, hash } = new URL(url);
  return [pathname, search.split('=')[0], hash].some((part) => part?.includes('@'));
}

/** The command that creates a database, run as the role `as`, which must be allowed to create databases. */
export const createDatabaseCommand = (
  { host, port }: Pick<PostgresTarget, 'host' | 'port'>,
  { as, owner, database }: { readonly as: string; readonly owner: string; readonly database: string },
): string => ['createdb', '-h', host, '-p', String(port), '-U', as, '-O', owner, database].map(shellWord).join(' ');

/** A word of a command for a POSIX shell, quoted if it needs it. */
export const shellWord = (text: string): string =>
  /^[\w./:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

interface Place extends PostgresTarget {
  readonly at: string;
  readonly name: string;
}

interface Kind {
  readonly codes: RegExp;
  /** For errors that the driver throws without a code. */
  readonly messages?: RegExp;
  say(place: Place): Pick<ConnectionFault, 'problem' | 'fix'>;
}

const KINDS: readonly Kind[] = [
  {
    codes: /^28P01$/,
    say: ({ at, user, name }) => ({
      problem: `the server at ${at} refuses the password of the user ${user}`,
      fix: `correct the user and password in ${name}; characters such as @ : / # are percent-encoded there`,
    }),
  },
  {
    codes: /^28000$/,
    say: ({ at, user, database, name }) => ({
      problem: `the server at ${at} does not admit the user ${user} to the database ${database}`,
      fix: `check that the role exists, and that pg_hba.conf on the server admits it from this machine, with TLS if it requires that (?sslmode=verify-full in ${name})`,
    }),
  },
  {
    codes: /^3D000$/,
    say: ({ host, port, at, user, database, name }) => ({
      problem: `the database ${database} does not exist on the server at ${at}`,
      fix: `create it as a role that may create databases, such as: ${createDatabaseCommand({ host, port }, { as: 'postgres', owner: user, database })} ; or correct the name in ${name}`,
    }),
  },
  {
    codes: /^42501$/,
    say: ({ user, database }) => ({
      problem: `the user ${user} may not connect to the database ${database}`,
      fix: `run as its owner: GRANT CONNECT ON DATABASE "${database}" TO "${user}"`,
    }),
  },
  {
    codes: /^(ECONNREFUSED|ENOENT)$/,
    say: ({ at, name }) => ({
      problem: `the connection to ${at} is refused: no server listens there`,
      fix: `start PostgreSQL, let it listen on this address (listen_addresses), or correct host and port in ${name}`,
    }),
  },
  {
    codes: /^(ENOTFOUND|EAI_\w+)$/,
    say: ({ host, name }) => ({
      problem: `the host ${host} is unknown: its name has no address`,
      fix: `correct the host in ${name}, or the name server of this machine`,
    }),
  },
  {
    codes: /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/,
    messages: /timeout/i,
    say: ({ at, name }) => ({
      problem: `${at} does not answer within ${CONNECT_TIMEOUT_MS / 1_000} s`,
      fix: `check host and port in ${name}, and that no firewall is in between`,
    }),
  },
  {
    codes:
      /^(EPROTO|ERR_(TLS|SSL|OSSL)_\w+|CERT_\w+|\w*_CERT|\w*SELF_SIGNED\w*|UNABLE_TO_\w+|HOSTNAME_MISMATCH|INVALID_CA)$/,
    messages: /\b(SSL|TLS)\b/,
    say: ({ at, name }) => ({
      problem: `no TLS connection to ${at}: the server has no TLS, or its certificate is not valid for this host or not trusted here`,
      fix: `add sslrootcert=/path/to/ca.pem to ${name} for a certificate of your own authority, enable TLS on the server (ssl = on), or set sslmode=disable where the network is private`,
    }),
  },
  {
    codes: /^$/,
    messages: /password must be a (non-empty )?string/,
    say: ({ at, user, name }) => ({
      problem: `the server at ${at} requires a password of the user ${user}, and the URL has none`,
      fix: `add the password to ${name}: postgres://user:password@host/database`,
    }),
  },
  {
    codes: /^53300$/,
    say: ({ at }) => ({
      problem: `the server at ${at} has no free connection`,
      fix: 'raise max_connections on the server, or lower DATABASE_POOL_MAX of the programs that use it',
    }),
  },
  {
    codes: /^57P0[123]$/,
    say: ({ at }) => ({
      problem: `the server at ${at} is starting or stopping`,
      fix: 'try again in a moment; its own log says what it waits for',
    }),
  },
];

const addressOf = ({ host, port }: PostgresTarget): string =>
  host.startsWith('/') ? `${host}/.s.PGSQL.${port}` : `${host.includes(':') ? `[${host}]` : host}:${port}`;

const certificateFileOf = (error: unknown): string | undefined =>
  error instanceof Error && 'syscall' in error && error.syscall === 'open' && 'path' in error
    ? String(error.path)
    : undefined;

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
