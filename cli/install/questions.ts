import { EDITIONS } from '../../server/access/edition.js';

export const TARGETS = ['local', 'systemd', 'compose', 'helm'] as const;
export type Target = (typeof TARGETS)[number];

/** The answers that an installation is made from, by key. Keys are those of an answer file. */
export type Answers = Readonly<Partial<Record<Key, string>>>;
export type Key =
  | 'target'
  | 'edition'
  | 'publicUrl'
  | 'platformDatabase'
  | 'tenantDatabase'
  | 'objectStore'
  | 'filesUrl'
  | 'scanner'
  | 'mail'
  | 'mailFrom'
  | 'port'
  | 'out';

export interface Question {
  readonly key: Key;
  readonly flag: string;
  /** What is asked on a terminal, and what the option's help says. */
  readonly ask: string;
  /** The setting that has the answer, which is also read from the environment. */
  readonly setting?: string;
  /** The answer may have a password: it is neither echoed nor accepted as an option. */
  readonly secret?: boolean;
  readonly choices?: readonly string[];
  /** The answer if none is given. */
  readonly default?: (answers: Answers) => string | undefined;
  /** Whether the answers before it leave the question open. */
  readonly applies: (answers: Answers) => boolean;
}

const always = (): boolean => true;
const onThisMachine = ({ target }: Answers): boolean => target === 'local' || target === 'systemd';
/** With Compose the database, the object store and the scanner are its own. */
const outside = ({ target }: Answers): boolean => target !== 'compose';
const storesContracts = ({ edition }: Answers): boolean => edition !== 'enterprise_hybrid';

/** In the order in which they are asked: whether one applies depends only on those before it. */
export const QUESTIONS: readonly Question[] = [
  {
    key: 'target',
    flag: '--target',
    ask: 'How it is run: local, systemd, compose or helm',
    choices: TARGETS,
    applies: always,
  },
  {
    key: 'edition',
    flag: '--edition',
    ask: 'Edition: self_hosted, saas, or enterprise_hybrid (agents store the contracts)',
    setting: 'EDITION',
    choices: EDITIONS,
    default: () => 'self_hosted',
    applies: outside,
  },
  {
    key: 'publicUrl',
    flag: '--public-url',
    ask: 'The https URL that users open, such as https://book.example.com',
    setting: 'PUBLIC_URL',
    applies: always,
  },
  {
    key: 'platformDatabase',
    flag: '--platform-database',
    ask: 'Database of accounts: postgres://user:password@host/database, or sqlite for a file',
    setting: 'PLATFORM_DATABASE_URL',
    secret: true,
    applies: outside,
  },
  {
    key: 'tenantDatabase',
    flag: '--tenant-database',
    ask: 'Database of contracts, another one: postgres://user:password@host/database, or sqlite',
    setting: 'TENANT_DATABASE_URL',
    secret: true,
    default: ({ platformDatabase }) => (platformDatabase === 'sqlite' ? 'sqlite' : undefined),
    applies: (answers) => outside(answers) && storesContracts(answers),
  },
  {
    key: 'objectStore',
    flag: '--object-store',
    ask: 'Files: folder, or a bucket as s3://key:secret@host:9000/bucket',
    setting: 'OBJECT_STORE_URL',
    secret: true,
    applies: (answers) => outside(answers) && storesContracts(answers),
  },
  {
    key: 'filesUrl',
    flag: '--files-url',
    ask: 'The https URL at which browsers reach the object store, such as https://files.example.com; empty if it is the same',
    setting: 'OBJECT_STORE_PUBLIC_URL',
    default: ({ target }) => (target === 'compose' ? undefined : ''),
    applies: ({ target, objectStore }) => target === 'compose' || (objectStore ?? '').startsWith('s3:'),
  },
  {
    key: 'scanner',
    flag: '--scanner',
    ask: 'Malware scanner: unix:/run/clamav/clamd.ctl or tcp://host:3310, or off to accept files unscanned',
    setting: 'CLAMAV_URL',
    applies: (answers) => outside(answers) && storesContracts(answers),
  },
  {
    key: 'mail',
    flag: '--mail',
    ask: 'Mail server: smtp://user:password@host:587 or smtps://…, or none',
    setting: 'SMTP_URL',
    secret: true,
    applies: always,
  },
  {
    key: 'mailFrom',
    flag: '--mail-from',
    ask: 'Sender of mail, such as Duebook <duebook@example.com>',
    setting: 'MAIL_FROM',
    applies: ({ mail }) => mail !== undefined && mail !== 'none',
  },
  {
    key: 'port',
    flag: '--port',
    ask: 'Port to listen on, for the proxy in front',
    setting: 'PORT',
    default: () => '8080',
    applies: onThisMachine,
  },
  {
    key: 'out',
    flag: '--out',
    ask: 'Folder to write to',
    default: ({ target }) => (target === 'compose' ? 'docker' : 'duebook'),
    applies: always,
  },
];
