import { Option } from 'commander';
import { isoOrNull } from '../../data-plane-agent/base/instants.js';
import type { MoveRecord, MoveRequest } from '../../server/data-planes/moving/moves.js';
import { examples, JSON_OPTION, jsonText, type AddCommand, type Cli } from '../cli.js';
import { confirm, YES_OPTION } from '../confirm.js';
import { withDataMoves, type MovesOfTenant } from '../data-moves.js';
import { misuse } from '../errors.js';
import { cliActor, configuration } from '../installation.js';

interface Asked {
  readonly tenant?: string;
  readonly to?: 'agent' | 'embedded';
  readonly deleteSource?: true;
  readonly cancel?: true;
  readonly yes?: true;
  readonly json?: true;
}

export const addMoveData: AddCommand = (tenants, cli) => {
  tenants
    .command('move-data')
    .argument('[slug]', 'the organisation; the same as --tenant')
    .description(
      'Moves the contract data and files of an organisation from the data plane of this installation to its agent, or back (EDITION=enterprise_hybrid). Changes are refused meanwhile. What has arrived is compared with what was sent before it is used. An interrupted move continues with the same command. Nothing is deleted where the data comes from, except with --delete-source.',
    )
    .option('--tenant <slug>', 'the organisation')
    .addOption(
      new Option('--to <where>', 'agent: the agent that joined; embedded: the data plane of this installation').choices(
        ['agent', 'embedded'],
      ),
    )
    .option('--delete-source', 'after a complete move: deletes the data where it came from')
    .option('--cancel', 'ends a move that is not complete, and removes what has arrived')
    .option(...YES_OPTION)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      examples(
        'duebook tenants move-data --tenant acme --to agent',
        'duebook tenants move-data --tenant acme --delete-source',
      ),
    )
    .action(async (argument: string | undefined, asked: Asked) => {
      const slug = slugOf(argument, asked);
      const { to, deleteSource, cancel, json } = asked;
      if ([to, deleteSource, cancel].filter((one) => one !== undefined).length !== 1)
        throw misuse('one of --to, --delete-source and --cancel is required');
      const config = await configuration(cli, { quiet: json === true });
      await withDataMoves(config, { cli, slug, isSource: to === 'agent' }, async (opened) => {
        const request = requestOf(cli, opened);
        const move = await carryOut(cli, { opened, request, slug, asked }).finally(() => cli.io.progress(''));
        if (json) return cli.io.data(jsonText({ move: answerOf(move) }));
        cli.io.data(summaryOf(move, slug));
      });
    });
};

function slugOf(argument: string | undefined, { tenant }: Asked): string {
  const slug = argument ?? tenant;
  if (slug === undefined) throw misuse('the organisation is missing: --tenant SLUG');
  if (argument !== undefined && tenant !== undefined && argument !== tenant)
    throw misuse('--tenant names another organisation than the argument');
  return slug;
}

const requestOf = ({ io }: Cli, { tenant }: MovesOfTenant): MoveRequest => ({
  tenant,
  actor: cliActor(),
  onProgress: (text) => io.progress(text),
});

async function carryOut(
  cli: Cli,
  {
    opened: { moves },
    request,
    slug,
    asked: { to, deleteSource, yes },
  }: { readonly opened: MovesOfTenant; readonly request: MoveRequest; readonly slug: string; readonly asked: Asked },
): Promise<MoveRecord> {
  if (to !== undefined) return moves.move({ ...request, direction: to });
  const isSure = { yes: yes === true };
  if (!deleteSource) {
    await confirm(cli, `End the move of the data of ${slug}, and remove what has arrived?`, isSure);
    return moves.cancel(request);
  }
  const last = await moves.latest(request.tenant.id);
  const where = last?.direction === 'agent' ? 'in this installation' : 'at its agent';
  await confirm(cli, `Delete the contract data and files of ${slug} ${where}? They cannot be restored.`, isSure);
  return moves.deleteSource(request);
}

const rowsOf = ({ progress }: MoveRecord): number =>
  Object.values(progress.tables).reduce((sum, { rows }) => sum + rows, 0);

const answerOf = (move: MoveRecord) => {
  const { id, direction, phase, progress, startedAt, finishedAt, sourceDeletedAt } = move;
  const { files, bytes, missing } = progress.files;
  return {
    id,
    to: direction,
    phase,
    rows: rowsOf(move),
    files,
    bytes,
    missingFiles: missing,
    tables: Object.fromEntries(
      Object.entries(progress.tables).map(([name, { rows, hash }]) => [name, { rows, hash: hash ?? null }]),
    ),
    startedAt: isoOrNull(startedAt),
    finishedAt: isoOrNull(finishedAt),
    sourceDeletedAt: isoOrNull(sourceDeletedAt),
  };
};

function summaryOf(move: MoveRecord, slug: string): string {
  const { direction, phase, progress, sourceDeletedAt } = move;
  if (phase === 'cancelled')
    return `The move is cancelled: the data of ${slug} is used where it was, and what had arrived is removed.`;
  const { files, bytes, missing } = progress.files;
  const where = direction === 'agent' ? 'its agent' : 'the data plane of this installation';
  return [
    `The data of ${slug} is at ${where}: ${rowsOf(move)} rows and ${files} ${files === 1 ? 'file' : 'files'} (${bytes} bytes) were copied and compared.`,
    ...(missing > 0 ? [`${missing} of the files had lost their bytes before the move.`] : []),
    ...(direction === 'embedded'
      ? [
          'The service uses it once it runs with EDITION=self_hosted or EDITION=saas; until then requests for this data are refused.',
        ]
      : []),
    sourceDeletedAt === null
      ? 'Where it was, it is kept, and not used. Delete it there with --delete-source.'
      : 'Where it was, it is deleted.',
  ].join('\n');
}
