import { InvalidArgumentError, Option } from 'commander';
import { duration, type Duration } from '../../data-plane-agent/base/config.js';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { isId } from '../../data-plane-agent/base/ids.js';
import { isoOrNull } from '../../data-plane-agent/base/instants.js';
import { createCodes, type RedeemCodeRecord } from '../../server/auth/codes.js';
import { PLANS, type PlanCode } from '../../server/access/permissions.js';
import { examples, JSON_OPTION, jsonText, type AddCommand } from '../cli.js';
import { confirm, YES_OPTION } from '../confirm.js';
import { CommandError } from '../errors.js';
import { cliActor, configuration, withPlatform } from '../installation.js';
import { table } from '../render/table.js';

export const addCodes: AddCommand = (program, cli) => {
  const codes = program
    .command('codes')
    .description('Redeem codes that organisations register with.')
    .helpCommand(false);
  addIssue(codes, cli);
  addList(codes, cli);
  addRevoke(codes, cli);
  codes.addHelpText('after', examples('duebook codes issue --plan business --count 5 --expires 90d'));
};

const MAX_COUNT = 1_000;

const addIssue: AddCommand = (codes, cli) => {
  codes
    .command('issue')
    .description('Creates single-use codes and shows them once: only their hashes are stored.')
    .addOption(
      new Option('--plan <plan>', 'the plan of an organisation that registers with the code')
        .choices(PLANS)
        .makeOptionMandatory(),
    )
    .option('--count <n>', `how many codes, at most ${MAX_COUNT}`, countOf, 1)
    .addOption(
      new Option('--expires <duration>', 'how long they are valid, such as 12h')
        .argParser(durationOf)
        .default(durationOf('90d'), '90d'),
    )
    .option(...JSON_OPTION)
    .addHelpText('after', examples('duebook codes issue --plan business --count 5 --expires 90d'))
    .action(
      async ({ plan, count, expires, json }: { plan: PlanCode; count: number; expires: Duration; json?: true }) => {
        const config = await configuration(cli, { quiet: json === true });
        const expiresAt = cli.clock.now() + expires.ms;
        const issued = await withPlatform(config, (database) =>
          createCodes({ database, clock: cli.clock }).issue({ planCode: plan, count, expiresAt }, cliActor()),
        );
        if (json)
          return cli.io.data(
            jsonText({ codes: issued.map((code) => ({ ...code, expiresAt: isoOrNull(code.expiresAt) })) }),
          );
        cli.io.data(issued.map(({ code }) => code).join('\n'));
        cli.io.message(`For the plan ${plan}, valid until ${isoOrNull(expiresAt)}. They are not shown again.`);
      },
    );
};

const addList: AddCommand = (codes, cli) => {
  codes
    .command('list')
    .description('Lists the codes, newest first, with their ids but not the codes themselves.')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('duebook codes list'))
    .action(async ({ json }: { json?: true }) => {
      const config = await configuration(cli, { quiet: json === true });
      const now = cli.clock.now();
      const listed = (await withPlatform(config, (database) => createCodes({ database, clock: cli.clock }).list())).map(
        (code) => answerOf(code, now),
      );
      if (json) return cli.io.data(jsonText({ codes: listed }));
      cli.io.data(
        table(
          ['ID', 'PLAN', 'STATUS', 'EXPIRES'],
          listed.map(({ id, planCode, status, expiresAt }) => [id, planCode, status, expiresAt ?? 'never']),
        ),
      );
    });
};

const addRevoke: AddCommand = (codes, cli) => {
  codes
    .command('revoke <id>')
    .description('Revokes a code that has not been used.')
    .option(...YES_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', examples('duebook codes revoke 01985f6e-7c3a-7b44-9c1d-2f6b8d0e4a11'))
    .action(async (id: string, { yes, json }: { yes?: true; json?: true }) => {
      const config = await configuration(cli, { quiet: json === true });
      await confirm(cli, `Revoke the code ${id}?`, { yes: yes === true });
      await withPlatform(config, async (database) => {
        try {
          if (!isId(id)) throw new CommandError('NOT_FOUND', `there is no unused code with the id ${id}`);
          await createCodes({ database, clock: cli.clock }).revoke({ id }, cliActor());
        } catch (error) {
          throw isFailure(error, 'NOT_FOUND')
            ? new CommandError('NOT_FOUND', `there is no unused code with the id ${id}`)
            : error;
        }
      });
      cli.io.data(json ? jsonText({ id, revoked: true }) : `Revoked ${id}.`);
    });
};

function answerOf(
  { id, planCode, createdAt, expiresAt, usedAt, revokedAt, usedByTenantId }: RedeemCodeRecord,
  now: number,
) {
  const status =
    revokedAt !== null
      ? 'revoked'
      : usedAt !== null
        ? 'used'
        : expiresAt !== null && expiresAt <= now
          ? 'expired'
          : 'open';
  return {
    id,
    planCode,
    status,
    createdAt: isoOrNull(createdAt),
    expiresAt: isoOrNull(expiresAt),
    usedAt: isoOrNull(usedAt),
    revokedAt: isoOrNull(revokedAt),
    usedByTenantId,
  };
}

function countOf(text: string): number {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > MAX_COUNT) throw new InvalidArgumentError(`must be a number from 1 to ${MAX_COUNT}`);
  return count;
}

function durationOf(text: string): Duration {
  const parsed = duration().parse(text);
  if (!parsed.ok) throw new InvalidArgumentError(parsed.problem);
  return parsed.value;
}
