import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { CommandError, misuse } from '../../base/command-line/errors.js';
import { examples, JSON_OPTION, jsonText } from '../../base/command-line/help.js';
import { iso } from '../../base/instants.js';
import type { Component } from '../../base/link/messages.js';
import { agentConfiguration, type AddAgentCommand, type AgentCli } from '../agent-cli.js';
import { isProduction, JOIN_TOKEN_VARIABLE, type AgentConfig } from '../config.js';
import { controlPlaneOrigin, createControlPlaneClient, proxyAgent } from '../control-plane.js';
import { IdentityFault, identityFiles, type IdentityFiles, type StoredIdentity } from '../identity-files.js';
import { join, rotateKey } from '../join.js';
import { lockDataDir } from '../process-lock.js';
import { orNull, storeProviderOf } from '../reporting.js';

interface Options {
  readonly controlPlane?: string;
  readonly tokenFile?: string;
  readonly allowHttp?: true;
  readonly unlessJoined?: true;
  readonly json?: true;
}

const TOKEN_HELP = `\nThe join token is read from --token-file, from standard input (--token-file -), or from ${JOIN_TOKEN_VARIABLE}; never from the command line, which other users of the machine can see.`;

const withTokenOptions = (command: Command): Command =>
  command
    .option('--token-file <file>', 'file with the join token; - is standard input')
    .option('--allow-http', 'join over http in your own network; for trials only, not in production')
    .option(...JSON_OPTION)
    .addHelpText('after', TOKEN_HELP);

export const addJoin: AddAgentCommand = (program, cli) => {
  withTokenOptions(
    program
      .command('join')
      .description('Joins a control plane with a join token: makes the key of this agent and stores who it belongs to.')
      .requiredOption('--control-plane <url>', 'the URL of the control plane'),
  )
    .option(
      '--unless-joined',
      'do nothing, and need no token, if this agent has joined that control plane already; for scripts that run at each start',
    )
    .addHelpText(
      'after',
      examples(
        'duebook-agent join --control-plane https://duebook.example.com --token-file join-token',
        'pass show duebook/join | duebook-agent join --control-plane https://duebook.example.com --token-file -',
      ),
    )
    .action((options: Options) => joinAgent(cli, options));
};

export const addRejoin: AddAgentCommand = (program, cli) => {
  withTokenOptions(
    program
      .command('rejoin')
      .description(
        'Joins again with a new join token, and keeps the data: after a revocation, a suspension or a lost key.',
      )
      .option('--control-plane <url>', 'the URL of the control plane, if it has changed'),
  )
    .addHelpText('after', examples('duebook-agent rejoin --token-file join-token'))
    .action((options: Options) => rejoinAgent(cli, options));
};

export const addRotateKey: AddAgentCommand = (program, cli) => {
  program
    .command('rotate-key')
    .description('Replaces the key of this agent, also while it runs; the old one is valid for 24 hours more.')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nThe running agent uses the new key for its next connection. An interrupted rotation is completed by running it again.',
    )
    .addHelpText('after', examples('duebook-agent rotate-key'))
    .action(async ({ json }: { readonly json?: true }) => {
      const config = agentConfiguration(cli, { quiet: json === true });
      const files = identityFiles(config.dataDir);
      const controlPlane = files.read('connection')?.controlPlane;
      if (controlPlane === undefined)
        throw new IdentityFault('NOT_JOINED', 'this agent has not joined a control plane, so it has no key to replace');
      const client = createControlPlaneClient(controlPlane, { httpAgent: proxyAgent(config) });
      const { kid, oldKeyUntil } = await rotateKey({ files, client, clock: cli.clock });
      cli.io.data(
        json
          ? jsonText({ kid, oldKeyUntil: iso(oldKeyUntil) })
          : `The key was replaced (${kid}). The old one is valid until ${iso(oldKeyUntil)}, or until the first connection with the new one.`,
      );
    });
};

async function joinAgent(cli: AgentCli, options: Options): Promise<void> {
  const controlPlane = originOf(cli, options.controlPlane ?? '', options);
  const json = options.json === true;
  const config = agentConfiguration(cli, { quiet: json });
  if (options.unlessJoined) {
    const joined = identityFiles(config.dataDir).read('connection');
    if (joined?.controlPlane === controlPlane) return tellJoined(cli, joined, { json });
    if (joined) throw alreadyJoined(joined);
  }
  const joinToken = await tokenOf(cli, options);
  await locked(config, async (files) => {
    const joined = files.read('connection');
    if (joined) throw alreadyJoined(joined);
    await joinAndTell(cli, { config, files, controlPlane, joinToken, json });
  });
}

const alreadyJoined = ({ controlPlane, connectionId }: StoredIdentity<'connection'>): CommandError =>
  new CommandError(
    'ALREADY_JOINED',
    `this agent has joined ${controlPlane} (connection ${connectionId}); to join again and keep its data, use "duebook-agent rejoin"`,
  );

function tellJoined(
  { io }: AgentCli,
  { connectionId, controlPlane, accessMode }: StoredIdentity<'connection'>,
  { json }: { readonly json: boolean },
): void {
  io.data(
    json
      ? jsonText({ connectionId, controlPlane, accessMode, alreadyJoined: true })
      : `This agent has joined ${controlPlane} already (connection ${connectionId}): nothing was changed.`,
  );
}

async function rejoinAgent(cli: AgentCli, options: Options): Promise<void> {
  const given = options.controlPlane === undefined ? undefined : originOf(cli, options.controlPlane, options);
  const joinToken = await tokenOf(cli, options);
  const config = agentConfiguration(cli, { quiet: options.json === true });
  await locked(config, async (files) => {
    const joined = files.read('connection');
    if (!joined)
      throw new IdentityFault(
        'NOT_JOINED',
        'this agent has not joined a control plane: use "duebook-agent join --control-plane URL --token-file FILE"',
      );
    await joinAndTell(cli, {
      config,
      files,
      controlPlane: given ?? joined.controlPlane,
      joinToken,
      tenantId: joined.tenantId,
      json: options.json === true,
    });
  });
}

interface Joining {
  readonly config: AgentConfig;
  readonly files: IdentityFiles;
  readonly controlPlane: string;
  readonly joinToken: string;
  readonly tenantId?: string;
  readonly json: boolean;
}

async function joinAndTell(
  { io, clock }: AgentCli,
  { config, files, controlPlane, joinToken, tenantId, json }: Joining,
): Promise<void> {
  const { connectionId, accessMode, tenant } = await join(
    { controlPlane, joinToken, tenantId, components: await componentsOf(config) },
    { files, clock, client: createControlPlaneClient(controlPlane, { httpAgent: proxyAgent(config) }) },
  );
  const { id, slug } = tenant;
  if (json) return io.data(jsonText({ connectionId, controlPlane, accessMode, tenant: { id, slug } }));
  io.data(`Joined ${controlPlane} for the organisation ${slug} (connection ${connectionId}).`);
  io.message(
    accessMode === 'direct'
      ? 'Next: "duebook-agent run"; the control plane calls this agent at the endpoint of the connection.'
      : 'Next: "duebook-agent run"; the agent connects to the control plane and needs no open port for it.',
  );
}

/** Only one process may change the identity, and none may run meanwhile. */
async function locked(config: AgentConfig, work: (files: IdentityFiles) => Promise<void>): Promise<void> {
  const lock = lockDataDir(config.dataDir);
  try {
    await work(identityFiles(config.dataDir));
  } finally {
    lock.release();
  }
}

const originOf = (cli: AgentCli, given: string, { allowHttp }: Options): string =>
  controlPlaneOrigin(given, { allowHttp: allowHttp === true, production: isProduction(cli.env()) });

async function tokenOf({ io, env }: AgentCli, { tokenFile }: Options): Promise<string> {
  const variable = env()[JOIN_TOKEN_VARIABLE] ?? '';
  if (tokenFile !== undefined && variable !== '')
    throw misuse(`the join token is given twice: by --token-file and by ${JOIN_TOKEN_VARIABLE}`);
  if (tokenFile === undefined && variable === '')
    throw misuse(
      `a join token is required: --token-file FILE, --token-file - for standard input, or ${JOIN_TOKEN_VARIABLE}`,
    );
  const token = (
    tokenFile === undefined ? variable : tokenFile === '-' ? await io.input() : readTokenFile(tokenFile)
  ).trim();
  if (token === '' || token.length > 200 || /\s/.test(token))
    throw misuse('the join token is empty or is none: it is one line that begins with dpj_');
  return token;
}

function readTokenFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw misuse(`the file with the join token cannot be read (${path}: ${reason})`);
  }
}

/** What is configured; the running agent reports whether it works. */
async function componentsOf(config: AgentConfig): Promise<Component[]> {
  const state = 'unknown';
  return [
    {
      kind: 'database',
      provider: config.tenantDatabaseUrl.startsWith('sqlite:') ? 'sqlite' : 'postgres',
      location: orNull(config.databaseLocation),
      state,
    },
    {
      kind: 'object_storage',
      provider: await storeProviderOf(config.objectStoreUrl),
      location: orNull(config.objectStoreLocation),
      state,
    },
    {
      kind: 'malware_scanner',
      provider: config.fileScanMode === 'clamav' ? 'clamav' : 'none',
      location: orNull(config.scannerLocation),
      state,
    },
  ];
}
