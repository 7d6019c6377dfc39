import { isFailure } from '../../data-plane-agent/base/failures.js';
import { isoOrNull } from '../../data-plane-agent/base/instants.js';
import { createSigningKeys, listSigningKeys, type ListedSigningKey } from '../../server/auth/keys.js';
import type { Config } from '../../server/config.js';
import { createLinkKeys, listLinkKeys } from '../../server/data-planes/joining/link-keys.js';
import { resealEverything, sealStatus, type PlacedSealCount } from '../../server/secret-rotation.js';
import { examples, JSON_OPTION, jsonText, type AddCommand, type Cli } from '../cli.js';
import { CommandError } from '../errors.js';
import { cliActor, configuration, withPlanes, withPlatform } from '../installation.js';
import { table } from '../render/table.js';

export const addKeys: AddCommand = (program, cli) => {
  const keys = program
    .command('keys')
    .description('Keys that sign tokens and requests to agents, and keys that encrypt (seal) secrets.')
    .helpCommand(false);
  addRotate(keys, cli);
  addStatus(keys, cli);
  addReencrypt(keys, cli);
  keys.addHelpText('after', `\nTo change the sealing key:\n${ROTATION.join('\n')}`);
  keys.addHelpText('after', examples('duebook keys status'));
};

/** The same steps as in docs/configuration.md. */
const ROTATION = [
  '1. Generate a key with a new id, such as k2: echo "k2:$(openssl rand -base64 32)"',
  '2. Put it in front of the keys in SECRET_KEYS, followed by a comma: the first key seals, all of them open. If',
  '   SECRET_KEYS is not set, the keys are in the file DATA_DIR/secret-keys, in the same format.',
  '3. Restart the server. If several servers share the databases, stop all of them before the first one starts',
  '   with the new key: a server without the new key cannot open what is sealed with it.',
  '4. Run "duebook keys reencrypt", and "duebook keys status" until it shows no secrets for the old key.',
  '5. Remove the old key and restart. Links to files that were created before then become invalid, and backups',
  '   that were made before still need the old key.',
];

interface Json {
  readonly json?: true | undefined;
}

const addRotate: AddCommand = (keys, cli) => {
  keys
    .command('rotate')
    .description(
      'Creates a new key to sign tokens with. The previous key verifies tokens until the last one has expired, so no session ends.',
    )
    .option('--link', 'instead, the key that signs what is sent to agents; agents accept the previous one for 30 days')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nWith --link, connected agents learn the new key at once and others when they connect again. An agent that does not connect within the 30 days must join again.',
    )
    .addHelpText('after', examples('duebook keys rotate', 'duebook keys rotate --link'))
    .action(async ({ link, json }: Json & { readonly link?: true }) => {
      const config = await configuration(cli, { quiet: json === true });
      if (link) return rotateLink(config, { cli, json });
      const { kid, oldVerifiesUntil } = await withPlatform(config, async (database) => {
        const signing = await createSigningKeys({
          database,
          clock: cli.clock,
          keyRing: config.keyRing,
          tokenLifetimeMs: tokenLifetimeMs(config),
        });
        return signing.rotate(cliActor());
      });
      if (json) return cli.io.data(jsonText({ kid, oldVerifiesUntil: isoOrNull(oldVerifiesUntil) }));
      cli.io.data(
        `Tokens are signed with ${kid} from now on; running servers use it within a minute. The previous key verifies tokens until ${isoOrNull(oldVerifiesUntil) ?? ''}.`,
      );
    });
};

async function rotateLink(config: Config, { cli, json }: Json & { readonly cli: Cli }): Promise<void> {
  const { kid, oldValidUntil } = await withPlatform(config, (database) =>
    createLinkKeys({ database, clock: cli.clock, keyRing: config.keyRing }).rotate(cliActor()),
  ).catch((error: unknown) => {
    throw isFailure(error, 'LIMIT_REACHED')
      ? new CommandError(
          'LIMIT_REACHED',
          `agents accept ${error.details.limit} keys at most: rotate again when the oldest has ended, see "duebook keys status"`,
        )
      : error;
  });
  cli.io.data(
    json
      ? jsonText({ kid, oldValidUntil: isoOrNull(oldValidUntil) })
      : `What is sent to agents is signed with ${kid} from now on; running servers use it within a minute. Agents that do not connect until ${isoOrNull(oldValidUntil) ?? ''} must join again.`,
  );
}

const addStatus: AddCommand = (keys, cli) => {
  keys
    .command('status')
    .description(
      'Shows the keys that sign and verify tokens, those that sign what is sent to agents, and how many secrets each key has sealed. Changes nothing.',
    )
    .option(...JSON_OPTION)
    .addHelpText('after', '\nExits 1 when secrets are sealed with a key that is missing from SECRET_KEYS.')
    .addHelpText('after', examples('duebook keys status', 'duebook keys status --json'))
    .action(async ({ json }: Json) => {
      const config = await configuration(cli, { quiet: json === true });
      const { signing, link, seals } = await withPlanes(config, cli, async (planes) => ({
        signing: (await listSigningKeys(planes.platform)).map(keyAnswer),
        link: (await listLinkKeys(planes.platform)).map(keyAnswer),
        seals: await sealStatus(planes),
      }));
      const { keyRing } = config;
      const sealing = keyIds(keyRing.keyIds, seals).map((id) => ({
        id,
        status: id === keyRing.active ? 'active' : keyRing.keyIds.includes(id) ? 'opens' : 'missing',
        rows: seals.filter(({ keyId }) => keyId === id).reduce((sum, { rows }) => sum + rows, 0),
      }));
      if (json) cli.io.data(jsonText({ signing, link, sealing, columns: seals }));
      else {
        cli.io.data(table(['SIGNING KEY', 'STATUS', 'CREATED', 'VERIFIES UNTIL'], signing.map(keyLine)));
        if (link.length > 0)
          cli.io.data(`\n${table(['LINK KEY', 'STATUS', 'CREATED', 'VALID UNTIL'], link.map(keyLine))}`);
        cli.io.data(
          `\n${table(
            ['SEALING KEY', 'STATUS', 'SECRETS'],
            sealing.map(({ id, status, rows }) => [id, status, String(rows)]),
          )}`,
        );
        if (seals.length > 0)
          cli.io.data(
            `\n${table(
              ['DATABASE', 'COLUMN', 'KEY', 'SECRETS'],
              seals.map(({ database, table: name, column, keyId, rows }) => [
                database,
                `${name}.${column}`,
                keyId,
                String(rows),
              ]),
            )}`,
          );
      }
      const missing = sealing.filter(({ status }) => status === 'missing').map(({ id }) => id);
      if (missing.length > 0)
        throw new CommandError(
          'KEYS_MISSING',
          `secrets are sealed with ${missing.join(', ')}, missing from SECRET_KEYS`,
        );
    });
};

const keyAnswer = ({ createdAt, verifyUntil, ...key }: ListedSigningKey) => ({
  ...key,
  createdAt: isoOrNull(createdAt),
  verifyUntil: isoOrNull(verifyUntil),
});

const keyLine = ({ kid, status, createdAt, verifyUntil }: ReturnType<typeof keyAnswer>): string[] => [
  kid,
  status,
  createdAt ?? '',
  verifyUntil ?? '–',
];

const addReencrypt: AddCommand = (keys, cli) => {
  keys
    .command('reencrypt')
    .description(
      'Reseals every secret with the first key of SECRET_KEYS. Servers may keep running; the command can be interrupted and run again.',
    )
    .option(...JSON_OPTION)
    .addHelpText('after', examples('duebook keys reencrypt'))
    .action(async ({ json }: Json) => {
      const config = await configuration(cli, { quiet: json === true });
      const done = await withPlanes(config, cli, (planes) =>
        resealEverything(planes, {
          keyRing: config.keyRing,
          clock: cli.clock,
          actor: cliActor(),
          onProgress: (rows) => cli.io.progress(`secrets resealed: ${rows}`),
        }),
      );
      cli.io.progress('');
      cli.io.data(
        json
          ? jsonText({ keyId: config.keyRing.active, ...done })
          : `${count(done.resealed)} resealed with ${config.keyRing.active}.`,
      );
      if (done.unreadable > 0)
        throw new CommandError(
          'SECRETS_UNREADABLE',
          `${count(done.unreadable)} could not be opened with any key of SECRET_KEYS and left unchanged; see "duebook keys status"`,
        );
    });
};

const count = (secrets: number): string => (secrets === 1 ? '1 secret' : `${secrets} secrets`);

/** The lifetime of the longest-lived token, in milliseconds. */
const tokenLifetimeMs = ({ accessTtl, refreshTtl }: Config): number => Math.max(accessTtl.ms, refreshTtl.ms);

const keyIds = (ring: readonly string[], seals: readonly PlacedSealCount[]): string[] => [
  ...new Set([...ring, ...seals.map(({ keyId }) => keyId)]),
];
