import { EMAIL_OPTION, TENANT_OPTION, withMemberAccess, type AccountOptions } from '../accounts.js';
import { examples, JSON_OPTION, jsonText, type AddCommand } from '../cli.js';
import { confirm, YES_OPTION } from '../confirm.js';
import { cliActor, configuration } from '../installation.js';

export const addSessions: AddCommand = (program, cli) => {
  const sessions = program.command('sessions').description('Sessions of members.').helpCommand(false);
  sessions
    .command('revoke')
    .description('Ends all sessions of a member. Their tokens are refused at once; they can sign in again.')
    .requiredOption(...TENANT_OPTION)
    .requiredOption(...EMAIL_OPTION)
    .option(...YES_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', examples('duebook sessions revoke --tenant acme --email ann@acme.example'))
    .action(async ({ tenant, email, yes, json }: AccountOptions & { readonly yes?: true }) => {
      const config = await configuration(cli, { quiet: json === true });
      await confirm(cli, `End all sessions of ${email}?`, { yes: yes === true });
      const { sessionsRevoked } = await withMemberAccess(config, { cli, tenant, email }, (access) =>
        access.revokeSessions({ tenantSlug: tenant, email }, cliActor()),
      );
      cli.io.data(
        json
          ? jsonText({ email, sessionsRevoked })
          : `Ended ${sessionsRevoked} ${sessionsRevoked === 1 ? 'session' : 'sessions'} of ${email}.`,
      );
    });
  sessions.addHelpText('after', examples('duebook sessions revoke --tenant acme --email ann@acme.example'));
};
