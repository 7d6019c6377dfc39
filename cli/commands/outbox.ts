import { InvalidArgumentError, Option } from 'commander';
import { isId } from '../../data-plane-agent/base/ids.js';
import { MOST_LISTED } from '../../data-plane-agent/plane/contract/records/outbox.js';
import { MESSAGE_STATES, type MessageState } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { examples, JSON_OPTION, jsonText, type AddCommand, type Cli } from '../cli.js';
import { confirm, YES_OPTION } from '../confirm.js';
import { CommandError, misuse } from '../errors.js';
import { configuration, withPlanes } from '../installation.js';
import { cliOutbox, type CliOutbox, type OutboxResult } from '../outbox.js';
import { table } from '../render/table.js';

export const addOutbox: AddCommand = (program, cli) => {
  const outbox = program
    .command('outbox')
    .description('Messages that wait or have failed: mails, reminders and notices. Lists, retries and discards them.')
    .helpCommand(false);
  addList(outbox, cli);
  addRetry(outbox, cli);
  addDiscard(outbox, cli);
  outbox.addHelpText('after', examples('duebook outbox list --status failed', 'duebook outbox retry --all-failed'));
};

const TENANT = ['--tenant <slug>', 'only one organisation'] as const;
const ID = '01985f6e-7c3a-7b44-9c1d-2f6b8d0e4a11';

interface Options {
  readonly tenant?: string;
  readonly json?: true;
}

const withOutbox = async <T>(
  cli: Cli,
  { tenant, json }: Options,
  work: (outbox: CliOutbox) => Promise<T>,
): Promise<T> =>
  withPlanes(await configuration(cli, { quiet: json === true }), cli, async (planes) =>
    work(await cliOutbox(planes, cli, tenant)),
  );

/** What is listed if no status is named. */
const OPEN: readonly MessageState[] = ['queued', 'failed', 'expired'];

const addList: AddCommand = (outbox, cli) => {
  outbox
    .command('list')
    .description('Lists waiting, failed and expired messages, mails first, the oldest first; without their content.')
    .option(...TENANT)
    .addOption(new Option('--status <status>', 'only messages with this status').choices(MESSAGE_STATES))
    .option('--limit <n>', `at most so many, up to ${MOST_LISTED}`, limitOf, 50)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nDelivered messages are listed with --status settled, except mails; their last error says why nothing was sent.',
    )
    .addHelpText('after', examples('duebook outbox list', 'duebook outbox list --tenant acme --status failed --json'))
    .action(async (options: Options & { readonly status?: MessageState; readonly limit: number }) => {
      const { status, limit, json } = options;
      const statuses = status === undefined ? OPEN : [status];
      const messages = await withOutbox(cli, options, (found) => found.list({ statuses, limit }));
      if (json) return cli.io.data(jsonText({ messages }));
      cli.io.data(
        table(
          ['ID', 'QUEUE', 'TENANT', 'TOPIC', 'CHANNEL', 'STATUS', 'ATTEMPTS', 'NEXT ATTEMPT', 'LAST ERROR'],
          messages.map((one) => [
            one.id,
            one.queue,
            one.tenant ?? '-',
            one.topic,
            one.channel ?? '-',
            one.status,
            String(one.attempts),
            one.nextAttemptAt ?? '-',
            one.lastError ?? '-',
          ]),
        ),
      );
      if (messages.length === limit) cli.io.message(`There may be more than ${limit}: see --limit.`);
    });
};

const addRetry: AddCommand = (outbox, cli) => {
  outbox
    .command('retry [ids...]')
    .description('Makes messages due at once; those that failed begin their attempts anew. The server delivers them.')
    .option('--all-failed', 'all failed and expired messages of the hosted data planes')
    .option(...TENANT)
    .option(...JSON_OPTION)
    .addHelpText('after', '\nA failed mail cannot be retried: its content was deleted when it failed.')
    .addHelpText('after', examples(`duebook outbox retry ${ID}`, 'duebook outbox retry --all-failed --tenant acme'))
    .action(async (ids: readonly string[], options: Options & { readonly allFailed?: true }) => {
      const all = options.allFailed === true;
      if (all === ids.length > 0) throw misuse('give either ids or --all-failed');
      checked(ids);
      report(cli, await withOutbox(cli, options, (found) => (all ? found.retryFailed() : found.tend('retry', ids))), {
        json: options.json === true,
        done: 'due now',
      });
    });
};

const addDiscard: AddCommand = (outbox, cli) => {
  outbox
    .command('discard <ids...>')
    .description('Ends messages without sending them. Reminders that they carry have failed then.')
    .option(...TENANT)
    .option(...YES_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', examples(`duebook outbox discard ${ID}`))
    .action(async (ids: readonly string[], options: Options & { readonly yes?: true }) => {
      checked(ids);
      await confirm(cli, `Discard ${ids.length === 1 ? 'this message' : `these ${ids.length} messages`}?`, {
        yes: options.yes === true,
      });
      report(cli, await withOutbox(cli, options, (found) => found.tend('discard', ids)), {
        json: options.json === true,
        done: 'discarded',
      });
    });
};

/** The maximum number of ids on a command line. */
const MOST_IDS = 1_000;

function checked(ids: readonly string[]): void {
  const wrong = ids.find((id) => !isId(id));
  if (wrong !== undefined) throw misuse(`${wrong} is not an id; "duebook outbox list" shows them`);
  if (ids.length > MOST_IDS) throw misuse(`at most ${MOST_IDS} ids`);
}

const REASONS: Readonly<Record<Exclude<OutboxResult['result'], 'done'>, string>> = {
  unknown: 'there is no such message',
  sending: 'it is being sent at this moment; try again in two minutes',
  ended: 'it was already sent or ended',
  content_deleted: 'the mail failed, and its content was deleted: it has to be caused again',
};

/** Fails after the report if something could not be done. */
function report(
  { io }: Cli,
  results: readonly OutboxResult[],
  { json, done }: { readonly json: boolean; readonly done: string },
): void {
  const undone = results.filter(({ result }) => result !== 'done');
  if (json) io.data(jsonText({ results }));
  else if (results.length === 0) io.data('There is no such message.');
  else io.data(results.map(({ id, result }) => `${id}  ${result === 'done' ? done : REASONS[result]}`).join('\n'));
  if (undone.length > 0)
    throw new CommandError('NOT_ALL_DONE', `nothing was done for ${undone.length} of ${results.length} messages`);
}

function limitOf(text: string): number {
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MOST_LISTED) throw new InvalidArgumentError(`must be a number from 1 to ${MOST_LISTED}`);
  return limit;
}
