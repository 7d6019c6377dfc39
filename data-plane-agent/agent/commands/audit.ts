import type { Command } from 'commander';
import { CommandError, misuse } from '../../base/command-line/errors.js';
import { examples, JSON_OPTION, jsonText } from '../../base/command-line/help.js';
import { printableLine } from '../../base/command-line/printable.js';
import { addDays, parseDay } from '../../base/day.js';
import { iso } from '../../base/instants.js';
import { agentConfiguration, lookAtAgentConfiguration, type AddAgentCommand, type AgentCli } from '../agent-cli.js';
import { logFolder, verifyLog, type StoredEntry } from '../operation-log-files.js';
import { chainKey } from '../operation-log.js';
import { entriesOf } from '../operation-log-reading.js';

interface Options {
  readonly since?: string;
  readonly until?: string;
  readonly operation?: string;
  readonly limit: string;
  readonly json?: true;
}

export const addAudit: AddAgentCommand = (program, cli) => {
  const audit = program
    .command('audit')
    .description('Shows the log of operations: everything that the control plane asked this agent for.')
    .helpCommand(false)
    .option('--since <when>', 'from this day (UTC) or instant')
    .option('--until <when>', 'up to and including this day, or before this instant')
    .option('--operation <name>', 'only this operation, such as downloadFile')
    .option('--limit <count>', 'the newest ones, at most so many; 0 for all', '100')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nWith --json, each line is one operation as JSON. The log has names, ids, times and sizes, and no contents of contracts.',
    )
    .addHelpText(
      'after',
      examples(
        'duebook-agent audit',
        'duebook-agent audit --since 2026-11-01 --operation exportContracts',
        'duebook-agent audit verify',
      ),
    )
    .action((options: Options) => showOperations(cli, options));
  addVerify(audit, cli);
};

async function showOperations(cli: AgentCli, { since, until, operation, limit, json }: Options): Promise<void> {
  const most = /^\d{1,9}$/.test(limit) ? Number(limit) : undefined;
  if (most === undefined) throw misuse('--limit must be a whole number');
  const filter = {
    from: since === undefined ? undefined : instantOf('--since', since, { isEnd: false }),
    before: until === undefined ? undefined : instantOf('--until', until, { isEnd: true }),
    operation,
    limit: most === 0 ? undefined : most,
  };
  const { values } = lookAtAgentConfiguration(cli);
  let shown = 0;
  for await (const entry of entriesOf(logFolder(values.dataDir), filter)) {
    const { n: _n, hash: _hash, ...operationLogged } = entry;
    // Ends early when the reader of a pipe has closed it.
    if (!(await cli.io.write(`${json ? JSON.stringify(operationLogged) : lineOf(entry)}\n`))) return;
    shown += 1;
  }
  if (shown === 0 && !json) cli.io.message('No operations in the log match.');
}

const addVerify = (audit: Command, cli: AgentCli): void => {
  audit
    .command('verify')
    .description('Checks that no entry was changed, removed or added since it was written. Changes nothing.')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nExits 1 when the log was tampered with. A last line that is incomplete, after the agent was killed, is reported and is no fault.',
    )
    .addHelpText('after', examples('duebook-agent audit verify', 'duebook-agent audit verify --json'))
    .action(async (_options: unknown, command: Command) => {
      // The option belongs to both commands, and commander gives it to the first.
      const { json } = command.optsWithGlobals<{ readonly json?: true }>();
      const config = agentConfiguration(cli, { quiet: json === true });
      const verified = await verifyLog(logFolder(config.dataDir), chainKey(config.keyRing), (entries) => {
        if (entries % 1_000 === 0) cli.io.progress(`${entries} entries`);
      });
      cli.io.progress('');
      const { entries, firstDay, lastDay, faults, torn } = verified;
      const isOk = faults.length === 0;
      if (json) cli.io.data(jsonText({ ok: isOk, ...verified }));
      else {
        cli.io.data(
          `${isOk ? 'ok  ' : 'FAIL'}  ${entries} operations${firstDay === null ? '' : `, ${firstDay} to ${lastDay ?? ''}`}`,
        );
        for (const { day, line, problem } of faults)
          cli.io.data(printableLine(`      ${day}${line === 0 ? '' : `, line ${line}`}: ${problem}`));
        if (torn) cli.io.data('      the last line is incomplete: the agent was killed while it was written');
      }
      if (!isOk) throw new CommandError('AUDIT_BROKEN', 'the log of operations was tampered with');
    });
};

/** `isEnd`: of a day, the end. */
function instantOf(option: string, given: string, { isEnd }: { readonly isEnd: boolean }): string {
  const day = parseDay(given);
  if (day === given) return `${isEnd ? addDays(day, 1) : day}T00:00:00.000Z`;
  if (day !== undefined && /T.*(Z|[+-]\d{2}:\d{2})$/.test(given) && !Number.isNaN(Date.parse(given)))
    return iso(Date.parse(given));
  throw misuse(`${option} must be a day such as 2026-11-23, or an instant such as 2026-11-23T08:00:00Z`);
}

function lineOf(entry: StoredEntry): string {
  const text = (name: string): string => {
    const value = entry[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  if ('event' in entry) return printableLine(`${text('at')}  (${text('event')})`);
  const actor = [text('actorKind'), text('actorId')].filter((part) => part !== '').join(' ');
  const ids = Object.entries(entry['ids'] ?? {}).map(([name, id]) => `${name}=${String(id)}`);
  return printableLine(
    [
      text('at'),
      (text('operation') || '(not accepted)').padEnd(22),
      text('outcome').padEnd(10),
      `${text('ms')} ms`.padStart(9),
      `${text('bytesIn')}/${text('bytesOut')} B`.padStart(14),
      actor,
      ...(entry['requestId'] === null ? [] : [`request ${text('requestId')}`]),
      ...ids,
    ].join('  '),
  );
}
