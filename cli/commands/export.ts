import { Option } from 'commander';
import { addressIn } from '../../data-plane-agent/base/addresses.js';
import { isId } from '../../data-plane-agent/base/ids.js';
import { CONTRACT_SORTS, type ContractSort } from '../../data-plane-agent/plane/contract/records/contracts.js';
import {
  EXPORT_PROFILES,
  type ExportFilter,
  type ExportProfile,
} from '../../data-plane-agent/plane/contract/records/export.js';
import {
  CONTRACT_STATUSES,
  CONTRACT_TYPES,
  PAYMENT_STATUSES,
  WORKFLOW_STAGES,
  type ContractStatus,
  type ContractType,
  type PaymentStatus,
  type WorkflowStage,
} from '../../data-plane-agent/plane/contract/vocabulary.js';
import { contractSheet, namesOf } from '../../server/spreadsheets/contract-sheet.js';
import type { TenantDirectory } from '../../server/tenants/directory.js';
import { TENANT_OPTION } from '../accounts.js';
import { examples, JSON_OPTION, jsonText, type AddCommand } from '../cli.js';
import { CommandError } from '../errors.js';
import { configuration } from '../installation.js';
import { outFile } from '../out-file.js';
import { withTenantPlane } from '../tenant-plane.js';

interface Options extends Filters {
  readonly tenant: string;
  readonly profile: ExportProfile;
  readonly out?: string;
  readonly json?: true;
}

interface Filters {
  readonly q?: string;
  readonly type?: ContractType;
  readonly typeCode?: string;
  readonly status?: ContractStatus;
  readonly statusCode?: string;
  readonly payment?: PaymentStatus;
  readonly workflow?: WorkflowStage;
  readonly stage?: string;
  readonly owner?: string;
  readonly subject?: string;
  readonly overdue?: true;
  readonly dueSoon?: true;
  readonly sort?: ContractSort;
  readonly order?: 'asc' | 'desc';
}

export const addExport: AddCommand = (program, cli) => {
  program
    .command('export')
    .description('Writes all matching contracts of an organisation as CSV, with unmasked account numbers.')
    .requiredOption(...TENANT_OPTION)
    .addOption(
      new Option(
        '--profile <profile>',
        'a row for each contract, or all fields with a row for each payment line, in the format of the import',
      )
        .choices(EXPORT_PROFILES)
        .default('summary'),
    )
    .option('--out <file>', 'a new file, readable to you only, instead of standard output')
    .option('--q <text>', 'with this text in number, code, project, parties, equipment or remark')
    .addOption(new Option('--type <type>', 'of this type').choices(CONTRACT_TYPES))
    .option('--type-code <code>', 'of this custom contract type')
    .addOption(new Option('--status <status>', 'with this status').choices(CONTRACT_STATUSES))
    .option('--status-code <code>', 'with this custom status')
    .addOption(new Option('--payment <state>', 'with this payment status').choices(PAYMENT_STATUSES))
    .addOption(new Option('--workflow <stage>', 'at a stage of this category').choices(WORKFLOW_STAGES))
    .option('--stage <code>', 'at this stage of the lifecycle')
    .option('--owner <email>', 'owned by this member')
    .option('--subject <name>', 'of this subject company, by its name or id')
    .option('--overdue', 'with a line that is overdue today')
    .option('--due-soon', 'with a line that is due within the reminder lead days')
    .addOption(new Option('--sort <key>', 'sort by this field; at most 10 000 contracts').choices(CONTRACT_SORTS))
    .addOption(new Option('--order <order>', 'sort order').choices(['asc', 'desc']))
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\n' +
        [
          '--profile summary: a row for each contract, with number, parties, total, received, outstanding and overdue',
          'amounts, status, stage, dates and owner.',
          '--profile full: a row for each payment line, with the cells of its contract repeated: every field of the',
          'contract, also terms, notes and custom fields (cf:<code>), and of the line its receipt, reconciliation and',
          'invoice fields (line.…). A contract without lines has one row. "duebook import" reads the file unchanged.',
          'Neither has the history of receipts, invoice records (GET /invoices/export), tasks or the files themselves.',
        ].join('\n'),
    )
    .addHelpText(
      'after',
      '\nWith --json the counts are printed as JSON on standard error. The export is an audit event of the organisation.',
    )
    .addHelpText(
      'after',
      examples(
        'duebook export --tenant acme --overdue > overdue.csv',
        'duebook export --tenant acme --profile full --out contracts.csv',
      ),
    )
    .action(async ({ tenant, profile, out, json, ...filters }: Options) => {
      const config = await configuration(cli, { quiet: json === true });
      const exported = await withTenantPlane(config, { cli, slug: tenant }, async ({ plane, directory }) => {
        const filter = filterOf(filters, directory);
        const names = namesOf(directory);
        const counted = { contracts: 0 };
        const pieces = contractSheet({
          plane,
          profile,
          filter,
          names,
          onProgress: (contracts) => {
            counted.contracts = contracts;
            cli.io.progress(`${contracts} contracts`);
          },
        });
        if (out === undefined) {
          // The reader of a pipe may close it early (`| head`).
          for await (const piece of pieces) if (!(await cli.io.write(piece))) break;
        } else await writeFile(out, pieces);
        return counted;
      });
      cli.io.progress('');
      cli.io.message(json ? jsonText(exported) : `${exported.contracts} contracts.`);
    });
};

/** Deletes the file when the export fails: an incomplete export must not pass for a complete one. */
async function writeFile(path: string, pieces: AsyncIterable<string>): Promise<void> {
  const file = outFile(path);
  try {
    for await (const piece of pieces) file.write(piece);
  } catch (error) {
    file.remove();
    throw error;
  }
  file.close();
}

function filterOf({ stage, owner, subject, ...filters }: Filters, directory: TenantDirectory): ExportFilter {
  return {
    ...filters,
    ...(stage === undefined ? {} : { lifecycleStageCode: stage }),
    ...(owner === undefined
      ? {}
      : {
          ownerId: found(
            directory.members().find(({ email }) => email === addressIn(owner)),
            `${owner} is not a member`,
          ),
        }),
    ...(subject === undefined
      ? {}
      : {
          subjectId: found(
            directory.subjects().find(({ id, name }) => name === subject || (isId(subject) && id === subject)),
            `there is no subject company ${subject}`,
          ),
        }),
  };
}

function found(record: { readonly id: string } | undefined, otherwise: string): string {
  if (!record) throw new CommandError('NOT_FOUND', otherwise);
  return record.id;
}
