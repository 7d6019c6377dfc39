import { Option } from 'commander';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { examples, JSON_OPTION, jsonText, type AddCommand } from '../cli.js';
import { chainsOf, exportChain, verifyOne, type Source } from '../audit-chains.js';
import { CommandError, misuse } from '../errors.js';
import { cliActor, configuration, withPlanes } from '../installation.js';
import { outFile } from '../out-file.js';
import { faultText } from '../../server/audit/verify.js';
import { periodOf, type Period } from '../../server/audit/period.js';
import { AuditStore } from '../../server/store/audit.js';

export const addAudit: AddCommand = (program, cli) => {
  const audit = program.command('audit').description('What was done, by whom and when: whether it is all there, and a copy of it.').helpCommand(false);
  addVerify(audit, cli);
  addExport(audit, cli);
  audit.addHelpText('after', examples('duebook audit verify', 'duebook audit export --tenant acme > audit.jsonl'));
};

interface Options {
  readonly tenant?: string;
  readonly source?: Source;
  readonly json?: true;
}

const sourceOption = () => new Option('--source <source>', 'only one of the two: sign-ins and administration, or contract data').choices(['platform', 'data']);

const addVerify: AddCommand = (audit, cli) => {
  audit
    .command('verify')
    .description('Looks whether an event was changed or removed since it was chained, or the end cut off, and names it. Changes nothing.')
    .option('--tenant <slug>', 'only one organisation')
    .addOption(sourceOption())
    .option(...JSON_OPTION)
    .addHelpText('after', '\nExits 1 when something is wrong. What was written in the last seconds waits to be chained and is not checked.\nKeep the printed hashes elsewhere: a later run that prints another one for as many events proves a forgery.')
    .addHelpText('after', examples('duebook audit verify', 'duebook audit verify --tenant acme --json'))
    .action(async ({ tenant, source, json }: Options) => {
      const config = configuration(cli, { quiet: json === true });
      const chains = await withPlanes(config, cli, async (planes) => {
        const checked = [];
        for (const chain of await chainsOf(planes, { slug: tenant, source })) {
          const name = `${chain.source} ${chain.slug ?? '(no organisation)'}`;
          const verified = await verifyOne(planes, chain, { keyRing: config.keyRing, clock: cli.clock, onProgress: (events) => cli.io.progress(`${name}: ${events}`) });
          checked.push({ source: chain.source, tenant: chain.slug, ...verified, faults: verified.faults.map((fault) => ({ ...fault, text: faultText(fault) })) });
        }
        return checked;
      });
      cli.io.progress('');
      const broken = chains.filter(({ faults }) => faults.length > 0);
      if (json) cli.io.data(jsonText({ ok: broken.length === 0, chains }));
      else {
        for (const { source: from, tenant: slug, events, hash, faults, waiting } of chains) {
          const name = `${from} ${slug ?? '(no organisation)'}`;
          cli.io.data(`${faults.length === 0 ? 'ok  ' : 'FAIL'}  ${name}: ${events} events, ${waiting} not chained yet, hash ${hash}`);
          for (const { text } of faults) cli.io.data(`      ${text}`);
        }
      }
      if (broken.length > 0) throw new CommandError('AUDIT_BROKEN', `the audit was tampered with: ${broken.map(({ source: from, tenant: slug }) => `${from} ${slug ?? '(no organisation)'}`).join(', ')}`);
    });
};

const addExport: AddCommand = (audit, cli) => {
  audit
    .command('export')
    .description('Writes audit events as JSON lines, oldest first, each with its place in the chain.')
    .option('--tenant <slug>', 'only one organisation')
    .addOption(sourceOption())
    .option('--from <when>', 'from this day (UTC) or instant on')
    .option('--to <when>', 'to this day, included, or before this instant')
    .option('--out <file>', 'a new file, readable to you only, instead of standard output')
    .option(...JSON_OPTION)
    .addHelpText('after', '\nWith --json the counts are told in JSON on standard error. The export is an audit event itself.')
    .addHelpText('after', examples('duebook audit export --tenant acme --from 2026-01-01 > audit.jsonl'))
    .action(async ({ tenant, source, from, to, out, json }: Options & { readonly from?: string; readonly to?: string; readonly out?: string }) => {
      const filter = period({ from, to });
      const config = configuration(cli, { quiet: json === true });
      const file = out === undefined ? undefined : outFile(out);
      try {
        const events = await withPlanes(config, cli, async (planes) => {
          let written = 0;
          for (const chain of await chainsOf(planes, { slug: tenant, source })) {
            for await (const event of exportChain(planes, chain, { keyRing: config.keyRing, clock: cli.clock, filter })) {
              const line = JSON.stringify(event);
              if (file) file.write(`${line}\n`);
              else cli.io.data(line);
              written += 1;
            }
            await planes.platform.write({ tenantId: null }, (tx) =>
              new AuditStore(tx).append({ tenantId: chain.tenantId, at: cli.clock.now(), actor: cliActor(), action: 'audit_exported', recordKind: 'audit', recordId: null, changes: { source: chain.source, ...filter } }),
            );
          }
          return written;
        });
        cli.io.message(json ? jsonText({ events }) : `${events} events.`);
      } finally {
        file?.close();
      }
    });
};

function period(given: { from: string | undefined; to: string | undefined }): Period {
  try {
    return periodOf(given, 'UTC');
  } catch (error) {
    throw isFailure(error, 'INVALID_INPUT') ? misuse(error.details.issues.map(({ path, problem }) => `--${path} ${problem}`).join('; ')) : error;
  }
}
