import { Option } from 'commander';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { isoOrNull } from '../../data-plane-agent/base/instants.js';
import { createChanges } from '../../server/access/changes.js';
import type { Config } from '../../server/config.js';
import { createOutbounds } from '../../server/outbounds.js';
import { createChange } from '../../server/tenants/change.js';
import { createConnections, type Connections, type ShownConnection } from '../../server/tenants/connections.js';
import { createTenantLookup } from '../../server/tenants/lookup.js';
import { TENANT_OPTION } from '../accounts.js';
import { examples, JSON_OPTION, jsonText, type AddCommand, type Cli } from '../cli.js';
import { confirm, YES_OPTION } from '../confirm.js';
import { CommandError } from '../errors.js';
import { cliActor, configuration, withPlatform } from '../installation.js';
import { table } from '../render/table.js';

export const addAgents: AddCommand = (program, cli) => {
  const agents = program
    .command('agents')
    .description("Connections to the agents that store organisations' contract data (EDITION=enterprise_hybrid).")
    .helpCommand(false);
  addInvite(agents, cli);
  addList(agents, cli);
  addRevoke(agents, cli);
  agents.addHelpText(
    'after',
    examples('duebook agents invite --tenant acme > join-token', 'duebook agents list --tenant acme'),
  );
};

interface Asked {
  readonly tenant: string;
  readonly json?: true | undefined;
}

const addInvite: AddCommand = (agents, cli) => {
  agents
    .command('invite')
    .description(
      'Creates a join token for the agent of an organisation and shows it once. One agent joins with it, within 24 hours. An agent that has joined stays connected until another one joins.',
    )
    .requiredOption(...TENANT_OPTION)
    .addOption(
      new Option(
        '--access-mode <mode>',
        'outbound: the agent connects to the service; direct: the service calls the agent',
      ).choices(['outbound', 'direct']),
    )
    .option('--endpoint <url>', 'for direct: the https URL of the agent')
    .option(...JSON_OPTION)
    .addHelpText('after', '\nPrints the token on standard output, and how to join on standard error.')
    .addHelpText(
      'after',
      examples(
        'duebook agents invite --tenant acme > join-token',
        'duebook agents invite --tenant acme --access-mode direct --endpoint https://agent.acme.example',
      ),
    )
    .action(
      async ({
        tenant,
        accessMode,
        endpoint,
        json,
      }: Asked & { readonly accessMode?: 'outbound' | 'direct'; readonly endpoint?: string }) => {
        const declared = await withConnections(cli, { tenant, json }, async ({ connections, tenantId }) => {
          const before = agentOf(await connections.list(tenantId));
          const fields = {
            kind: 'agent',
            provider: before?.provider,
            location: before?.location,
            accessMode: accessMode ?? before?.accessMode,
            endpoint: endpoint ?? before?.endpoint,
          };
          return connections.declare({ tenantId, fields }, cliActor());
        });
        const { connection, joinToken, joinCommand } = declared;
        if (json) return cli.io.data(jsonText({ connectionId: connection.id, joinToken, joinCommand }));
        cli.io.data(joinToken ?? '');
        cli.io.message(
          `For the agent of ${tenant}, once, within 24 hours. It is not shown again. Where the agent is installed, run this with the token as standard input:\n  ${joinCommand ?? ''}`,
        );
      },
    );
};

const addList: AddCommand = (agents, cli) => {
  agents
    .command('list')
    .description('Lists the connection to the agent of an organisation, and what is declared to stand behind it.')
    .requiredOption(...TENANT_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', examples('duebook agents list --tenant acme'))
    .action(async ({ tenant, json }: Asked) => {
      const listed = (
        await withConnections(cli, { tenant, json }, ({ connections, tenantId }) => connections.list(tenantId))
      ).map(answerOf);
      if (json) return cli.io.data(jsonText({ connections: listed }));
      cli.io.data(
        table(
          ['KIND', 'STATUS', 'PROVIDER', 'LOCATION', 'VERSION', 'LAST SEEN'],
          listed.map(({ kind, status, provider, location, agentVersion, lastSeenAt }) => [
            kind,
            status,
            provider ?? '–',
            location ?? '–',
            agentVersion ?? '–',
            lastSeenAt ?? '–',
          ]),
        ),
      );
      for (const { kind, statusReason } of listed)
        if (statusReason !== null) cli.io.message(`${kind}: ${statusReason}`);
    });
};

const addRevoke: AddCommand = (agents, cli) => {
  agents
    .command('revoke')
    .description(
      "Revokes the connection to the agent of an organisation: the agent is refused at once, and the organisation's contract data stays where it is.",
    )
    .requiredOption(...TENANT_OPTION)
    .option(...YES_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', examples('duebook agents revoke --tenant acme'))
    .action(async ({ tenant, yes, json }: Asked & { readonly yes?: true }) => {
      const connectionId = await withConnections(cli, { tenant, json }, async ({ connections, tenantId }) => {
        const connection = agentOf(await connections.list(tenantId));
        if (!connection || connection.status === 'revoked') throw nothingToRevoke(tenant);
        await confirm(
          cli,
          `Revoke the agent of ${tenant}? Until an agent joins again, its contract data is not available.`,
          {
            yes: yes === true,
          },
        );
        await connections.revoke({ tenantId, kind: 'agent' }, cliActor()).catch((error: unknown) => {
          throw isFailure(error, 'NOT_FOUND') ? nothingToRevoke(tenant) : error;
        });
        return connection.id;
      });
      cli.io.data(json ? jsonText({ connectionId, revoked: true }) : `Revoked the agent of ${tenant}.`);
    });
};

const nothingToRevoke = (tenant: string): CommandError =>
  new CommandError('NOT_FOUND', `the organisation ${tenant} has no connection to an agent`);

const agentOf = (connections: readonly ShownConnection[]): ShownConnection | undefined =>
  connections.find(({ kind }) => kind === 'agent');

const answerOf = ({ createdAt, updatedAt, lastSeenAt, connectedSince, ...connection }: ShownConnection) => ({
  ...connection,
  lastSeenAt: isoOrNull(lastSeenAt),
  connectedSince: isoOrNull(connectedSince),
  createdAt: isoOrNull(createdAt),
  updatedAt: isoOrNull(updatedAt),
});

/**
 * Runs a command on the connections of an organisation. Throws AGENTS_NOT_USED outside the edition with agents,
 * NOT_FOUND for an unknown organisation, and INVALID_INPUT.
 */
async function withConnections<T>(
  cli: Cli,
  { tenant: slug, json }: Asked,
  work: (of: { readonly connections: Connections; readonly tenantId: string }) => Promise<T>,
): Promise<T> {
  const config = await configuration(cli, { quiet: json === true });
  refuseWithoutAgents(config);
  return withPlatform(config, async (database) => {
    const tenant = await createTenantLookup({ database }).bySlug(slug);
    if (!tenant) throw new CommandError('NOT_FOUND', `there is no organisation ${slug}`);
    const connections = createConnections({
      database,
      clock: cli.clock,
      change: createChange({ database, clock: cli.clock, changes: createChanges() }),
      policy: createOutbounds(config).forTenants,
      linked: true,
      publicUrl: config.publicUrl,
    });
    return work({ connections, tenantId: tenant.id });
  });
}

function refuseWithoutAgents({ edition }: Pick<Config, 'edition'>): void {
  if (edition !== 'enterprise_hybrid')
    throw new CommandError(
      'AGENTS_NOT_USED',
      `with EDITION=${edition} the service stores contract data itself; agents store it with EDITION=enterprise_hybrid`,
    );
}
