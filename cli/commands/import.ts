import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import {
  BATCH_DAYS,
  type ImportInput,
  type ImportReading,
  type ImportReport,
} from '../../data-plane-agent/plane/contract/records/imports.js';
import { MAX_IMPORT_ROWS } from '../../data-plane-agent/plane/contract/records/sheet.js';
import { CONTRACT_COLUMNS, LINE_COLUMNS } from '../../data-plane-agent/plane/domain/sheet/columns.js';
import { readCsv, type CsvReading } from '../../data-plane-agent/plane/domain/sheet/read-csv.js';
import { TooManyRows } from '../../data-plane-agent/plane/domain/sheet/sheet.js';
import { sheetOfWorkbook } from '../../server/spreadsheets/import-source.js';
import { TENANT_OPTION } from '../accounts.js';
import { examples, JSON_OPTION, jsonText, type AddCommand } from '../cli.js';
import { CommandError, misuse } from '../errors.js';
import { configuration } from '../installation.js';
import { outFile } from '../out-file.js';
import { table } from '../render/table.js';
import { withTenantPlane } from '../tenant-plane.js';

interface Options {
  readonly tenant: string;
  readonly sheet?: string;
  readonly dryRun?: true;
  readonly errors?: string;
  readonly json?: true;
}

export const addImport: AddCommand = (program, cli) => {
  program
    .command('import <file>')
    .description(
      'Imports contracts from a CSV file or an .xlsx workbook: enters the valid rows and reports the errors of the others.',
    )
    .requiredOption(...TENANT_OPTION)
    .option('--sheet <name>', 'the sheet of a workbook (default: the first)')
    .option('--dry-run', 'report what would happen, but enter nothing')
    .option(
      '--errors <file>',
      'write the rejected rows with their errors to a new CSV file, to correct and import again',
    )
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      `\nA CSV may be in UTF-8, UTF-16 with a byte order mark, or GB18030. At most ${MAX_IMPORT_ROWS} rows. Headers are field names, their\nlabels in English or Chinese, or other usual words for them; "duebook export --profile full" writes such a file.\nNumbers and dates are read by what the whole file shows; one with two readings that nothing decides is an error of its\nrow. Existing contracts are not changed: a contract number in use is an error of its row. Exits 0 when all rows were\nentered, 1 when some failed.`,
    )
    .addHelpText(
      'after',
      examples(
        'duebook import contracts.xlsx --tenant acme --dry-run',
        'duebook import contracts.csv --tenant acme --errors rejected.csv',
        'duebook import contracts.csv --tenant acme --json > report.json',
      ),
    )
    .action(async (file: string, { tenant, sheet: sheetName, dryRun, errors, json }: Options) => {
      if (dryRun && errors !== undefined)
        throw misuse('--errors cannot be combined with --dry-run, which keeps no rejected rows');
      const config = await configuration(cli, { quiet: json === true });
      const sheet = await sheetOfFile(file, sheetName);
      const report = await withTenantPlane(config, { cli, slug: tenant }, async ({ plane, directory, roleCodes }) => {
        const people = {
          members: directory.members().map(({ id, name, email, active }) => ({ id, name, email, active })),
          subjects: directory.subjects().map(({ id, name }) => ({ id, name })),
        };
        const input: ImportInput = { rows: null, sheet, people, roleCodes: [...roleCodes] };
        return withErrorsFile(errors, async (write) => {
          const done = await (dryRun ? plane.previewImport(input) : plane.importContracts(input)).catch(
            (error: unknown) => Promise.reject(unreadable(file, error)),
          );
          cli.io.data(json ? jsonText(done) : textOf(done, { header: sheet.header, errors }));
          if (write && done.batchId !== null && done.failed > 0)
            write((await plane.getImportErrors({ batchId: done.batchId })).csv);
          return done;
        });
      });
      if (report.failed > 0)
        throw new CommandError(
          'IMPORT_INCOMPLETE',
          `${report.failed} ${report.failed === 1 ? 'row' : 'rows'} ${dryRun ? 'would not be' : 'not'} entered`,
        );
    });
};

/**
 * Opens the file for the rejected rows before anything is entered, so that an unsuitable path is an error then. Deletes
 * it when nothing was written.
 */
async function withErrorsFile<T>(
  path: string | undefined,
  work: (write?: (csv: string) => void) => Promise<T>,
): Promise<T> {
  if (path === undefined) return work();
  const file = outFile(path, '--errors');
  let isWritten = false;
  try {
    return await work((csv) => {
      file.write(csv);
      isWritten = true;
    });
  } finally {
    if (isWritten) file.close();
    else file.remove();
  }
}

async function sheetOfFile(path: string, sheetName: string | undefined): Promise<NonNullable<ImportInput['sheet']>> {
  const kind = extname(path).toLowerCase();
  if (kind !== '.csv' && kind !== '.xlsx') throw misuse('the file must be a .csv or an .xlsx file');
  if (kind === '.csv' && sheetName !== undefined) throw misuse('--sheet applies only to .xlsx workbooks');
  const bytes = contentOf(path);
  try {
    return kind === '.csv' ? await csvOf(bytes) : await sheetOfWorkbook(bytes, sheetName ?? null, 'cli');
  } catch (error) {
    throw unreadable(path, error);
  }
}

function contentOf(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') throw new CommandError('NOT_FOUND', `there is no file ${path}`);
    throw code === 'EISDIR' ? misuse(`${path} is a folder`) : error;
  }
}

function unreadable(path: string, error: unknown): unknown {
  if (error instanceof TooManyRows)
    return new CommandError('TOO_MANY_ROWS', `${path} has more than ${MAX_IMPORT_ROWS} rows; split it`);
  return isFailure(error, 'IMPORT_FILE_INVALID')
    ? new CommandError(error.code, `${path} cannot be imported: ${error.details.reason}`)
    : error;
}

/**
 * Text in another encoding is hardly ever valid UTF-8. Without a byte order mark, the fallback is GB18030, which
 * Chinese spreadsheet programs write.
 */
function csvOf(bytes: Uint8Array): ReturnType<typeof readCsv> {
  const [first, second] = bytes;
  const read = (encoding: Encoding, { fatal }: { readonly fatal: boolean }) =>
    readCsv(new TextDecoder(encoding, { fatal, ignoreBOM: true }).decode(bytes), { encoding });
  if (first === 0xff && second === 0xfe) return read('utf-16le', { fatal: false });
  if (first === 0xfe && second === 0xff) return read('utf-16be', { fatal: false });
  for (const encoding of ['utf-8', 'gb18030'] as const) {
    try {
      return read(encoding, { fatal: true });
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }
  throw new CommandError('IMPORT_FILE_INVALID', 'the file is neither UTF-8 nor GB18030');
}

type Encoding = NonNullable<CsvReading['encoding']>;

function textOf(
  {
    batchId,
    total,
    created,
    failed,
    skipped,
    contracts,
    unknownColumns,
    suggestions,
    missingColumns,
    reading,
    rows,
  }: ImportReport,
  { header, errors }: { readonly header: readonly (string | null)[]; readonly errors: string | undefined },
): string {
  const dryRun = batchId === null;
  const entered = `${contracts} ${contracts === 1 ? 'contract' : 'contracts'} ${dryRun ? 'would be' : contracts === 1 ? 'was' : 'were'} entered`;
  const summary = `${entered}, from ${created} of ${total} rows; ${failed} failed, ${skipped} were blank.`;
  const meant = Map.groupBy(suggestions, ({ column }) => column);
  const named = unknownColumns.map((column) => {
    const names = (meant.get(column) ?? []).map(({ suggestion }) => suggestion);
    return oneLine(names.length === 0 ? column : `${column} (perhaps ${names.join(' or ')})`);
  });
  const unknown = [
    ...(named.length === 0 ? [] : [`Unknown columns that were ignored: ${named.join(', ')}`]),
    ...(missingColumns.length === 0
      ? []
      : [`Required columns that the file lacks: ${missingColumns.map(labelled(header)).join(', ')}`]),
  ];
  const problems = rows.flatMap(({ row, errors = [] }) =>
    errors.map(({ code, message, value }) => [String(row), code, message, value ?? '']),
  );
  const doubtful = rows.flatMap(({ row, warnings = [] }) =>
    warnings.map(({ code, message }) => [String(row), code, oneLine(message)]),
  );
  return [
    summary,
    ...(reading ? [readingText(reading)] : []),
    ...unknown,
    ...(doubtful.length === 0 ? [] : [table(['ROW', 'WARNING', 'MEANING'], doubtful)]),
    ...(problems.length === 0
      ? []
      : [
          table(
            ['ROW', 'CODE', 'PROBLEM', 'VALUE'],
            problems.map((cells) => cells.map(oneLine)),
          ),
        ]),
    ...(batchId === null || failed === 0 ? [] : [rejectedText(batchId, errors)]),
  ].join('\n');
}

/** The column names with their Chinese labels, if the headers of the file are Chinese. */
function labelled(header: readonly (string | null)[]): (name: string) => string {
  const isChinese = header.some((text) => text !== null && /\p{Script=Han}/u.test(text));
  return (name) => {
    const column = isChinese && [...CONTRACT_COLUMNS, ...LINE_COLUMNS].find((one) => one.name === name);
    return column ? `${name} (${column.labels.zh})` : name;
  };
}

/** Where the rejected rows are. */
const rejectedText = (batchId: string, errors: string | undefined): string =>
  errors === undefined
    ? `The rejected rows with their errors are kept for ${BATCH_DAYS} days. An administrator gets them as CSV from GET /api/v1/contracts/import/batches/${batchId}/errors.csv; --errors FILE writes them.`
    : `The rejected rows with their errors: ${errors}`;

const DELIMITER_NAMES: Readonly<Record<string, string>> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' };

/** How the file was read, in a line. */
function readingText({ delimiter, encoding, decimalMark, groupMark, dayOrder }: ImportReading): string {
  const parts = [
    delimiter === null ? 'a workbook' : `cells separated by ${DELIMITER_NAMES[delimiter] ?? delimiter}`,
    ...(encoding === null ? [] : [encoding.toUpperCase()]),
    decimalMark === null ? 'no decimal mark' : `numbers like 1${groupMark ?? ''}234${decimalMark}56`,
    ...(dayOrder === null ? [] : [`dates like ${dayOrder === 'DMY' ? '31/12/2026' : '12/31/2026'}`]),
  ];
  return `Read as: ${parts.join(', ')}.`;
}

/** Cell values are printed to a terminal and may contain control characters. */
const oneLine = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ');
