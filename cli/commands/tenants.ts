import { Argument } from 'commander';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { isoOrNull } from '../../data-plane-agent/base/instants.js';
import { PLANS, type PlanCode } from '../../server/access/permissions.js';
import type { TenantRecord } from '../../server/tenants/lookup.js';
import { createChanges } from '../../server/access/changes.js';
import {
  createTenantOperator,
  type TenantOverview,
  type TenantOperator,
} from '../../server/tenants/tenant-operator.js';
import { examples, JSON_OPTION, jsonText, type AddCommand, type Cli } from '../cli.js';
import { confirm, YES_OPTION } from '../confirm.js';
import { CommandError } from '../errors.js';
import { cliActor, configuration, withPlatform } from '../installation.js';
import { printableLine } from '../../data-plane-agent/base/command-line/printable.js';
import { table } from '../render/table.js';
import { addMoveData } from './move-data.js';
import { addExportData, addImportData, addVerifyData } from './tenant-data.js';

export const addTenants: AddCommand = (program, cli) => {
  const tenants = program
    .command('tenants')
    .description(
      'Organisations: list them, set their plan, suspend and resume them, move, export and import their data.',
    )
    .helpCommand(false);
  addList(tenants, cli);
  addShow(tenants, cli);
  addSetPlan(tenants, cli);
  addStatus(tenants, cli, {
    name: 'suspend',
    status: 'suspended',
    description: 'Refuses all access to an organisation until it is resumed. Its data is kept.',
  });
  addStatus(tenants, cli, {
    name: 'resume',
    status: 'active',
    description: 'Lifts the suspension of an organisation: its members can sign in again.',
  });
  addMoveData(tenants, cli);
  addExportData(tenants, cli);
  addVerifyData(tenants, cli);
  addImportData(tenants, cli);
  tenants.addHelpText('after', examples('duebook tenants list', 'duebook tenants set-plan acme business'));
};

interface Json {
  readonly json?: true;
}

const addList: AddCommand = (tenants, cli) => {
  tenants
    .command('list')
    .description('Lists all organisations, by slug.')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('duebook tenants list'))
    .action(async ({ json }: Json) => {
      const listed = (await withOperator(cli, { json }, (operator) => operator.list())).map(answerOf);
      if (json) return cli.io.data(jsonText({ tenants: listed }));
      cli.io.data(
        table(
          ['SLUG', 'NAME', 'PLAN', 'STATUS', 'CREATED'],
          listed.map(({ slug, name, planCode, status, createdAt }) => [slug, name, planCode, status, createdAt ?? '']),
        ),
      );
    });
};

const addShow: AddCommand = (tenants, cli) => {
  tenants
    .command('show <slug>')
    .description('Shows one organisation: plan, status, owner, number of members and sessions, and settings.')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('duebook tenants show acme'))
    .action(async (slug: string, { json }: Json) => {
      const tenant = overviewOf(await withOperator(cli, { slug, json }, (operator) => operator.show(slug)));
      if (json) return cli.io.data(jsonText({ tenant }));
      cli.io.data(
        Object.entries(tenant)
          .map(([name, value]) =>
            printableLine(
              `${name}: ${typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '–')}`,
            ),
          )
          .join('\n'),
      );
    });
};

const addSetPlan: AddCommand = (tenants, cli) => {
  tenants
    .command('set-plan <slug>')
    .addArgument(new Argument('<plan>', 'the new plan').choices(PLANS))
    .description('Changes the plan of an organisation. Takes effect at once.')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('duebook tenants set-plan acme business'))
    .action(async (slug: string, planCode: PlanCode, { json }: Json) => {
      await withOperator(cli, { slug, json }, (operator) => operator.setPlan({ slug, planCode }, cliActor()));
      cli.io.data(json ? jsonText({ tenant: { slug, planCode } }) : `${slug} now has the plan ${planCode}.`);
    });
};

function addStatus(
  tenants: Parameters<AddCommand>[0],
  cli: Cli,
  { name, status, description }: { name: string; status: TenantRecord['status']; description: string },
): void {
  const command = tenants.command(`${name} <slug>`).description(description);
  if (status === 'suspended') command.option(...YES_OPTION);
  command
    .option(...JSON_OPTION)
    .addHelpText('after', examples(`duebook tenants ${name} acme`))
    .action(async (slug: string, { yes, json }: Json & { readonly yes?: true }) => {
      if (status === 'suspended') await confirm(cli, `Refuse all members of ${slug}?`, { yes: yes === true });
      await withOperator(cli, { slug, json }, (operator) => operator.setStatus({ slug, status }, cliActor()));
      cli.io.data(json ? jsonText({ tenant: { slug, status } }) : `${slug} is ${status}.`);
    });
}

async function withOperator<T>(
  cli: Cli,
  { slug, json }: { slug?: string; json: true | undefined },
  work: (operator: TenantOperator) => Promise<T>,
): Promise<T> {
  const config = await configuration(cli, { quiet: json === true });
  try {
    return await withPlatform(config, (database) =>
      work(createTenantOperator({ database, clock: cli.clock, changes: createChanges() })),
    );
  } catch (error) {
    throw isFailure(error, 'NOT_FOUND')
      ? new CommandError('NOT_FOUND', `there is no organisation ${slug ?? ''}`)
      : error;
  }
}

const answerOf = ({ id, slug, name, planCode, status, createdAt }: TenantRecord) => ({
  id,
  slug,
  name,
  planCode,
  status,
  createdAt: isoOrNull(createdAt),
});

const overviewOf = ({ ownerEmail, members, sessions, lastLoginAt, settings, ...tenant }: TenantOverview) => ({
  ...answerOf(tenant as TenantRecord),
  ownerEmail,
  members,
  sessions,
  lastLoginAt: isoOrNull(lastLoginAt),
  settings,
});
