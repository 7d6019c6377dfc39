import { Option } from 'commander';
import { shownDatabase } from '../../data-plane-agent/base/database/shown.js';
import { s, type Static } from '../../data-plane-agent/base/schema.js';
import { checker } from '../../data-plane-agent/base/validation.js';
import { PLANS, type PlanCode } from '../../server/access/permissions.js';
import { personName } from '../../server/access/person.schemas.js';
import { databasesOf, type ManagedDatabase } from '../../server/databases.js';
import type { Composed } from '../../server/compose.js';
import { examples, JSON_OPTION, jsonText, type AddCommand, type Cli } from '../cli.js';
import { CommandError, misuse } from '../errors.js';
import { cliActor, configuration, withInstallation } from '../installation.js';
import { choosePassword } from '../password.js';

/** The same rules as in the body of a registration, except for the owner's name, which is a person's name. */
const Arguments = s.object({
  tenantSlug: s.text({ min: 3, max: 64, pattern: '^[a-z0-9][a-z0-9-]{1,62}[a-z0-9]$' }),
  tenantName: s.name({ min: 2, max: 80 }),
  name: personName(),
  email: s.email(),
});
type Arguments = Static<typeof Arguments>;

interface Options extends Arguments {
  readonly plan: PlanCode;
  readonly json?: true;
}

export const addBootstrap: AddCommand = (program, cli) => {
  program
    .command('bootstrap')
    .description(
      'Migrates the databases and creates the first organisation with its owner. A second run changes nothing.',
    )
    .requiredOption('--tenant-slug <slug>', 'the short name that members sign in with: a-z, 0-9 and -')
    .requiredOption('--tenant-name <name>', "the organisation's name")
    .requiredOption('--email <email>', "the owner's email")
    .requiredOption('--name <name>', "the owner's name")
    .addOption(new Option('--plan <plan>', "the organisation's plan").choices(PLANS).default('enterprise'))
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      "\nThe owner's password is read from standard input (data that starts to arrive within ten seconds). When that\nis empty, it is asked for on a terminal, and otherwise generated and shown once.",
    )
    .addHelpText(
      'after',
      examples(
        'duebook bootstrap --tenant-slug acme --tenant-name "Acme Ltd" --email ann@acme.example --name "Ann Lee" < password.txt',
      ),
    )
    .action((options: Options) => bootstrap(cli, options));
};

interface Result {
  readonly tenant: { readonly id: string; readonly slug: string };
  readonly user: { readonly id: string; readonly email: string };
  /** Only when it was generated. */
  readonly password?: string;
  readonly created: boolean;
}

async function bootstrap(cli: Cli, { plan, json, ...given }: Options): Promise<void> {
  const wanted = checked(given);
  const config = await configuration(cli, { quiet: json === true });
  const result = await withInstallation(config, cli, async (installation) => {
    const present = await presentOwner(installation, wanted);
    if (present) return present;
    const { password, generated } = await choosePassword(cli, wanted, { strict: config.passwordRules === 'on' });
    const { tenantSlug: slug, tenantName: name, email, name: ownerName } = wanted;
    const { tenant, owner } = await installation.services.tenants.create(
      { slug, name, planCode: plan, owner: { name: ownerName, email, password } },
      cliActor(),
    );
    return {
      tenant: { id: tenant.id, slug },
      user: { id: owner.id, email: owner.email },
      ...(generated ? { password } : {}),
      created: true,
    };
  });
  print(cli, result, { json: json === true, databases: Object.values(databasesOf(config)) });
}

/** Returns `email` in its normalised form. Unknown fields are options of commander and are ignored. */
function checked({ tenantSlug, tenantName, email, name }: Arguments): Arguments {
  const result = checker(Arguments)({ tenantSlug, tenantName, email, name });
  if (result.ok) return result.value;
  const option = (path: string): string => `--${path.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  throw misuse(result.issues.map(({ path, problem }) => `${option(path)} ${problem}`).join('; '));
}

async function presentOwner({ services }: Composed, { tenantSlug, email }: Arguments): Promise<Result | undefined> {
  const tenant = await services.tenants.bySlug(tenantSlug);
  if (!tenant) return undefined;
  const member = await services.tenants.members.byEmail({ tenantId: tenant.id, email });
  if (!member)
    throw new CommandError(
      'TENANT_SLUG_TAKEN',
      `the organisation ${tenantSlug} already exists, and ${email} is not a member of it; nothing was changed`,
    );
  return { tenant: { id: tenant.id, slug: tenant.slug }, user: { id: member.id, email: member.email }, created: false };
}

interface Printing {
  readonly json: boolean;
  /** The databases that were used, which may not be those of a running server. */
  readonly databases: readonly ManagedDatabase[];
}

function print({ io }: Cli, { created, tenant, user, password }: Result, { json, databases }: Printing): void {
  if (json) return io.data(jsonText({ tenant, user, ...(password === undefined ? {} : { password }), created }));
  for (const { name, url } of databases) io.message(`The ${name} database: ${shownDatabase(url)}`);
  if (!created)
    return io.data(`The organisation ${tenant.slug} and its member ${user.email} already exist: nothing was changed.`);
  io.data(`Created the organisation ${tenant.slug} with its owner ${user.email}.`);
  if (password !== undefined) io.data(`Password: ${password}\nIt is not shown again.`);
}
