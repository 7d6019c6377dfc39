import type { ListedMember } from '../../server/tenants/members.js';
import { EMAIL_OPTION, TENANT_OPTION, withMemberAccess, type AccountOptions } from '../accounts.js';
import { examples, JSON_OPTION, jsonText, type AddCommand } from '../cli.js';
import { confirm, YES_OPTION } from '../confirm.js';
import { cliActor, configuration } from '../installation.js';
import { choosePassword } from '../password.js';
import { table } from '../render/table.js';
import { isoOrNull } from '../../data-plane-agent/base/instants.js';

export const addMembers: AddCommand = (program, cli) => {
  const members = program
    .command('members')
    .description('Members of an organisation: list them, and restore access for members who cannot sign in.')
    .helpCommand(false);
  addList(members, cli);
  addResetMfa(members, cli);
  addResetPassword(members, cli);
  addUnlock(members, cli);
  members.addHelpText(
    'after',
    examples('duebook members list --tenant acme', 'duebook members unlock --tenant acme --email ann@acme.example'),
  );
};

const addList: AddCommand = (members, cli) => {
  members
    .command('list')
    .description('Lists the members of an organisation, including disabled ones.')
    .requiredOption(...TENANT_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', examples('duebook members list --tenant acme'))
    .action(async ({ tenant, json }: Omit<AccountOptions, 'email'>) => {
      const config = await configuration(cli, { quiet: json === true });
      const listed = (await withMemberAccess(config, { cli, tenant }, (access) => access.list(tenant))).map(answerOf);
      if (json) return cli.io.data(jsonText({ members: listed }));
      const rows = listed.map(({ email, name, roleCode, status, mfaEnrolled, lastLoginAt }) => [
        email,
        name,
        roleCode,
        status,
        mfaEnrolled ? 'yes' : 'no',
        lastLoginAt ?? 'never',
      ]);
      cli.io.data(table(['EMAIL', 'NAME', 'ROLE', 'STATUS', 'MFA', 'LAST SIGN-IN'], rows));
    });
};

const addResetMfa: AddCommand = (members, cli) => {
  members
    .command('reset-mfa')
    .description(
      "Deletes a member's authenticator, recovery codes and passkeys, and ends their sessions, for example after they lost a device.",
    )
    .requiredOption(...TENANT_OPTION)
    .requiredOption(...EMAIL_OPTION)
    .option(...YES_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', examples('duebook members reset-mfa --tenant acme --email ann@acme.example'))
    .action(async ({ tenant, email, yes, json }: AccountOptions & { readonly yes?: true }) => {
      const config = await configuration(cli, { quiet: json === true });
      await confirm(cli, `Delete all second factors of ${email}?`, { yes: yes === true });
      const done = await withMemberAccess(config, { cli, tenant, email }, (access) =>
        access.resetMfa({ tenantSlug: tenant, email }, cliActor()),
      );
      if (json) return cli.io.data(jsonText({ email, ...done }));
      cli.io.data(
        `${email} has ${done.authenticator || done.passkeys > 0 ? 'no second factor now' : 'had no second factor'}; ${done.sessionsRevoked} sessions ended.`,
      );
    });
};

const addResetPassword: AddCommand = (members, cli) => {
  members
    .command('reset-password')
    .description('Sets a new password for a member, ends their sessions and unlocks them. The second factor stays.')
    .requiredOption(...TENANT_OPTION)
    .requiredOption(...EMAIL_OPTION)
    .option(...YES_OPTION)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nThe password is read from standard input (data that starts to arrive within ten seconds). When that is empty,\nit is asked for on a terminal, and otherwise generated and shown once.',
    )
    .addHelpText(
      'after',
      examples('duebook members reset-password --tenant acme --email ann@acme.example < password.txt'),
    )
    .action(async ({ tenant, email, yes, json }: AccountOptions & { readonly yes?: true }) => {
      const config = await configuration(cli, { quiet: json === true });
      await confirm(cli, `Set a new password for ${email}?`, { yes: yes === true });
      const { password, generated } = await choosePassword(
        cli,
        { email, tenantSlug: tenant },
        { strict: config.passwordRules === 'on' },
      );
      const done = await withMemberAccess(config, { cli, tenant, email }, (access) =>
        access.resetPassword({ tenantSlug: tenant, email, password }, cliActor()),
      );
      if (json) return cli.io.data(jsonText({ email, ...done, ...(generated ? { password } : {}) }));
      cli.io.data(`${email} has a new password; ${done.sessionsRevoked} sessions ended.`);
      if (generated) cli.io.data(`Password: ${password}\nIt is not shown again.`);
    });
};

const addUnlock: AddCommand = (members, cli) => {
  members
    .command('unlock')
    .description("Clears a member's failed sign-ins, so that they can sign in at once.")
    .requiredOption(...TENANT_OPTION)
    .requiredOption(...EMAIL_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', examples('duebook members unlock --tenant acme --email ann@acme.example'))
    .action(async ({ tenant, email, json }: AccountOptions) => {
      const config = await configuration(cli, { quiet: json === true });
      const { wasLocked } = await withMemberAccess(config, { cli, tenant, email }, (access) =>
        access.unlock({ tenantSlug: tenant, email }, cliActor()),
      );
      cli.io.data(
        json ? jsonText({ email, wasLocked }) : `${email} ${wasLocked ? 'is no longer locked' : 'was not locked'}.`,
      );
    });
};

const answerOf = ({
  id,
  email,
  name,
  roleCode,
  subjectScope,
  status,
  mfaEnrolled,
  lastLoginAt,
  createdAt,
}: ListedMember) => ({
  id,
  email,
  name,
  roleCode,
  subjectScope,
  status,
  mfaEnrolled,
  lastLoginAt: isoOrNull(lastLoginAt),
  createdAt: isoOrNull(createdAt),
});
