import { resolve } from 'node:path';
import type { Manifest } from '../../server/data-planes/archive/format.js';
import { interruptible } from '../../data-plane-agent/host/backup/interruptible.js';
import { TENANT_OPTION } from '../accounts.js';
import { examples, JSON_OPTION, jsonText, type AddCommand } from '../cli.js';
import { misuse } from '../errors.js';
import { cliActor, configuration } from '../installation.js';
import { commandErrorOf, withTenantArchives } from '../tenant-archives.js';

interface Asked {
  readonly tenant: string;
  readonly out?: string;
  readonly cancel?: true;
  readonly json?: true;
}

export const addExportData: AddCommand = (tenants, cli) => {
  tenants
    .command('export-data')
    .description(
      'Writes all data of an organisation into a new folder: one file of JSON lines for each kind of record, the files themselves, a manifest and SHA256SUMS. One state: changes of its contract data are refused meanwhile, reading continues. docs/leaving.md describes the records.',
    )
    .requiredOption(...TENANT_OPTION)
    .option('--out <folder>', 'a new or empty folder, readable to you only')
    .option('--cancel', 'ends an export whose process was killed: contract data can be changed again')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nWithout passwords, other factors and secrets of channels; the manifest lists what is left out. Account numbers are not masked.\nNothing is left in the folder when it fails. "sha256sum -c SHA256SUMS" and "duebook tenants verify-data" check the folder.',
    )
    .addHelpText('after', examples('duebook tenants export-data --tenant acme --out acme-2026-11-23'))
    .action(async ({ tenant: slug, out, cancel, json }: Asked) => {
      if ((out === undefined) === (cancel === undefined)) throw misuse('one of --out and --cancel is required');
      const config = await configuration(cli, { quiet: json === true });
      await withTenantArchives(config, { cli, slug }, async ({ options, tenant }) => {
        const { createTenantExports } = await import('../plane-parts.js');
        const exports = createTenantExports(options);
        const request = { tenant, actor: cliActor(), onProgress: (text: string) => cli.io.progress(text) };
        if (out === undefined) {
          await exports.cancel(request);
          return cli.io.data(
            json ? jsonText({ cancelled: true }) : `The export is ended: the contract data of ${slug} can be changed.`,
          );
        }
        const folder = resolve(out);
        const manifest = await interruptible(cli.process, (signal) =>
          exports.export({ ...request, folder, signal }),
        ).finally(() => cli.io.progress(''));
        if (json) return cli.io.data(jsonText({ folder, ...answerOf(manifest) }));
        cli.io.data(`${folder}: ${summaryOf(manifest)}`);
        warn(manifest, (text) => cli.io.message(`Warning: ${text}`));
      });
    });
};

interface ImportAsked {
  readonly tenant: string;
  readonly from?: string;
  readonly dryRun?: true;
  readonly cancel?: true;
  readonly json?: true;
}

export const addImportData: AddCommand = (tenants, cli) => {
  tenants
    .command('import-data')
    .description(
      'Imports all data of an organisation, which export-data has written, into a new organisation of this or another installation. Everything is checked before anything is written; requests for its contract data are refused meanwhile. Nothing is left when it fails.',
    )
    .requiredOption(...TENANT_OPTION)
    .option('--from <folder>', 'what export-data has written')
    .option('--dry-run', 'check everything, but import nothing')
    .option('--cancel', 'removes what an import whose process was killed has left')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nThe organisation must have no contract data, no channels and at most the subject company that it was made with; that one is replaced. Its slug, name, plan and owner stay.\nMembers are matched by their e-mail address; the others are added without passwords ("duebook members reset-password"). Channels whose URL or secret is left out are disabled. Import only what you trust: hashes show damage, not who wrote it.',
    )
    .addHelpText('after', examples('duebook tenants import-data --tenant acme --from acme-2026-11-23 --dry-run'))
    .action(async ({ tenant: slug, from, dryRun, cancel, json }: ImportAsked) => {
      if ((from === undefined) === (cancel === undefined)) throw misuse('one of --from and --cancel is required');
      if (cancel && dryRun) throw misuse('--dry-run cannot be combined with --cancel');
      const config = await configuration(cli, { quiet: json === true });
      await withTenantArchives(config, { cli, slug }, async ({ options, tenant }) => {
        const { createTenantImports } = await import('../plane-parts.js');
        const imports = createTenantImports(options);
        const request = { tenant, actor: cliActor(), onProgress: (text: string) => cli.io.progress(text) };
        if (from === undefined) {
          await imports.cancel(request);
          return cli.io.data(json ? jsonText({ cancelled: true }) : `The import into ${slug} is ended.`);
        }
        const isDryRun = dryRun === true;
        const imported = await interruptible(cli.process, (signal) =>
          imports.import({ ...request, folder: resolve(from), isDryRun, signal }),
        ).finally(() => cli.io.progress(''));
        const { exportId, rows: records, files, bytes, members } = imported;
        if (json) return cli.io.data(jsonText({ dryRun: isDryRun, exportId, records, files, bytes, members }));
        cli.io.data(
          `${records} records and ${files} files (${bytes} bytes) ${isDryRun ? 'can be' : 'were'} imported into ${slug}; ${members.matched === 1 ? '1 member is' : `${members.matched} members are`} there already, ${members.added} ${addedText(members.added, isDryRun)} added.`,
        );
      });
    });
};

const addedText = (count: number, isDryRun: boolean): string =>
  `${count} ${isDryRun ? 'would be' : count === 1 ? 'was' : 'were'}`;

export const addVerifyData: AddCommand = (tenants, cli) => {
  tenants
    .command('verify-data')
    .argument('<folder>', 'what export-data has written')
    .description(
      'Reads all of an export and checks every hash, line and field. Needs no database and no configuration; changes nothing.',
    )
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nExits 1 when the export is damaged or incomplete; the message names the file and the line.',
    )
    .addHelpText('after', examples('duebook tenants verify-data acme-2026-11-23'))
    .action(async (folder: string, { json }: Pick<Asked, 'json'>) => {
      const { verifyFolder } = await import('../plane-parts.js');
      const { manifest } = await verifyFolder(resolve(folder), (text) => cli.io.progress(text))
        .catch((error: unknown) => Promise.reject(commandErrorOf(error)))
        .finally(() => cli.io.progress(''));
      cli.io.data(json ? jsonText({ ok: true, ...answerOf(manifest) }) : `ok: ${summaryOf(manifest)}`);
      if (!json) warn(manifest, (text) => cli.io.message(`Warning: ${text}`));
    });
};

export const answerOf = ({ exportId, product, createdAt, organisation, records, files }: Manifest) => ({
  exportId,
  version: product.version,
  createdAt,
  organisation,
  records: Object.fromEntries(records.map(({ kind, count }) => [kind, count])),
  files: files.count,
  bytes: files.bytes,
  missingFiles: files.missing,
  differentFiles: files.different,
});

const summaryOf = ({ records, files, organisation, createdAt }: Manifest): string =>
  `${records.reduce((sum, { count }) => sum + count, 0)} records and ${files.count} files (${files.bytes} bytes) of ${organisation.slug}, as of ${createdAt}.`;

function warn({ files: { missing, different } }: Manifest, say: (text: string) => void): void {
  if (missing.length > 0)
    say(`the object store had lost the bytes of ${missing.length} files; the manifest lists them`);
  if (different.length > 0)
    say(`${different.length} files have other bytes than were uploaded; the manifest lists them`);
}
