import { Option } from 'commander';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { iso } from '../../data-plane-agent/base/instants.js';
import { examples, JSON_OPTION, jsonText, type AddCommand } from '../cli.js';
import { chainsOf, exportChain, headOf, recordExport, verifyOne, type Chain, type Source } from '../audit-chains.js';
import { CommandError, misuse } from '../errors.js';
import { configuration, withPlanes, type Planes } from '../installation.js';
import { isOf, readKeptHeads, type KeptChain } from '../kept-heads.js';
import { outFile } from '../out-file.js';
import { faultText, type Verified } from '../../server/audit/verify.js';
import { periodOf, type Period } from '../../server/audit/period.js';

export const addAudit: AddCommand = (program, cli) => {
  const audit = program
    .command('audit')
    .description('Verifies and exports the audit: who did what, and when.')
    .helpCommand(false);
  addHead(audit, cli);
  addVerify(audit, cli);
  addExport(audit, cli);
  audit.addHelpText(
    'after',
    examples(
      'duebook audit verify',
      'duebook audit head --json > heads.json',
      'duebook audit export --tenant acme > audit.jsonl',
    ),
  );
};

interface Options {
  readonly tenant?: string;
  readonly source?: Source;
  readonly json?: true;
}

const sourceOption = () =>
  new Option('--source <source>', 'only one of the two: sign-ins and administration, or contract data').choices([
    'platform',
    'data',
  ]);

const nameOf = ({ source, slug }: Pick<Chain, 'source' | 'slug'>): string => `${source} ${slug ?? '(no organisation)'}`;

const addHead: AddCommand = (audit, cli) => {
  audit
    .command('head')
    .description('Prints the head of every chain: the number of its events and the hash of the last one.')
    .option('--tenant <slug>', 'only one organisation')
    .addOption(sourceOption())
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nKeep the --json output where no one with access to the database can change it: "duebook audit verify --expect" compares with it later.\nThe server writes the same heads to its log every day, as lines with "audit head".',
    )
    .addHelpText('after', examples('duebook audit head --json > heads.json', 'duebook audit head --tenant acme'))
    .action(async ({ tenant, source, json }: Options) => {
      const config = await configuration(cli, { quiet: json === true });
      const heads = await withPlanes(config, cli, async (planes) => {
        const found = [];
        for (const chain of await chainsOf(planes, { slug: tenant, source })) {
          const { position, hash, waiting } = await headOf(planes, chain, {
            keyRing: config.keyRing,
            clock: cli.clock,
          });
          found.push({
            source: chain.source,
            tenant: chain.slug,
            tenantId: chain.tenantId,
            events: position,
            hash,
            waiting,
          });
        }
        return found;
      });
      if (json) cli.io.data(jsonText({ at: iso(cli.clock.now()), heads }));
      else
        for (const { source: from, tenant: slug, events, hash, waiting } of heads)
          cli.io.data(`${nameOf({ source: from, slug })}: ${events} events, ${waiting} not chained yet, hash ${hash}`);
    });
};

const addVerify: AddCommand = (audit, cli) => {
  audit
    .command('verify')
    .description(
      'Checks that no event was changed or removed since it was chained and that no chain was truncated. Changes nothing.',
    )
    .option('--tenant <slug>', 'only one organisation')
    .addOption(sourceOption())
    .option('--expect <file>', 'saved heads to compare with: output of "audit head --json", or a server log')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nExits 1 when a chain is broken, and when --expect has no head of a checked chain. Events of the last seconds that are not chained yet are not checked.\nThe database alone does not show that the end of a chain was removed; --expect detects that too.',
    )
    .addHelpText(
      'after',
      examples(
        'duebook audit verify',
        'duebook audit verify --expect heads.json',
        'duebook audit verify --tenant acme --json',
      ),
    )
    .action(async ({ tenant, source, expect, json }: Options & { readonly expect?: string }) => {
      const kept = expect === undefined ? [] : readKeptHeads(expect);
      const config = await configuration(cli, { quiet: json === true });
      const checked = await withPlanes(config, cli, async (planes) => {
        const chains = await chainsOf(planes, { slug: tenant, source });
        const results: CheckedChain[] = tenant === undefined ? lostChains(kept, { chains, planes, source }) : [];
        for (const chain of chains) {
          const saved = kept.filter((head) => isOf(head, chain) && head.events > 0);
          const verified = await verifyOne(planes, chain, {
            keyRing: config.keyRing,
            clock: cli.clock,
            kept: saved,
            onProgress: (events) => cli.io.progress(`${nameOf(chain)}: ${events}`),
          });
          results.push({ chain, kept: saved.length, verified });
        }
        return results;
      });
      cli.io.progress('');
      const broken = checked.filter(({ verified }) => verified.faults.length > 0);
      const nothingCompared = expect !== undefined && checked.every(({ kept: heads }) => heads === 0);
      if (json) cli.io.data(jsonText({ ok: broken.length === 0 && !nothingCompared, chains: checked.map(jsonOf) }));
      else
        for (const {
          chain,
          kept: savedHeads,
          verified: { events, hash, faults, waiting },
        } of checked) {
          cli.io.data(
            `${faults.length === 0 ? 'ok  ' : 'FAIL'}  ${nameOf(chain)}: ${events} events, ${waiting} not chained yet, hash ${hash}`,
          );
          for (const fault of faults) cli.io.data(`      ${faultText(fault)}`);
          if (expect !== undefined && savedHeads === 0)
            cli.io.data('      not compared: --expect has no head of this chain, or only one with no events');
        }
      if (broken.length > 0)
        throw new CommandError(
          'AUDIT_BROKEN',
          `the audit was tampered with: ${broken.map(({ chain }) => nameOf(chain)).join(', ')}`,
        );
      if (nothingCompared)
        throw new CommandError(
          'NOTHING_COMPARED',
          `--expect ${expect} has no head of the checked chains, or only heads with no events: nothing was compared`,
        );
    });
};

interface CheckedChain {
  readonly chain: Chain;
  /** How many saved heads it was compared with. Heads with no events prove nothing and are left out. */
  readonly kept: number;
  readonly verified: Verified;
}

const jsonOf = ({ chain: { source, slug, tenantId }, kept, verified }: CheckedChain) => ({
  source,
  tenant: slug,
  tenantId,
  kept,
  ...verified,
  faults: verified.faults.map((fault) => ({ ...fault, text: faultText(fault) })),
});

/** Chains that have a saved head but no longer exist. Chains of contract data only when it is kept here. */
function lostChains(
  kept: readonly KeptChain[],
  { chains, planes, source }: { chains: readonly Chain[]; planes: Planes; source: Source | undefined },
): CheckedChain[] {
  const lost = kept.filter(
    (head) =>
      (source ?? head.source) === head.source &&
      (head.source === 'platform' || planes.tenant !== undefined) &&
      !chains.some((chain) => isOf(head, chain)),
  );
  return [...Map.groupBy(lost, ({ source: of, tenantId }) => `${of} ${tenantId ?? ''}`).values()].map((heads) => {
    const {
      source: of,
      tenantId,
      events,
      hash,
    } = heads.reduce((last, head) => (head.events > last.events ? head : last));
    return {
      chain: { source: of, tenantId, slug: tenantId },
      kept: heads.length,
      verified: {
        events: 0,
        hash,
        waiting: 0,
        faults: [{ kind: 'lost', position: events, eventId: null, count: events }],
      },
    };
  });
}

const addExport: AddCommand = (audit, cli) => {
  audit
    .command('export')
    .description('Writes audit events as JSON lines, oldest first, each with its position in the chain.')
    .option('--tenant <slug>', 'only one organisation')
    .addOption(sourceOption())
    .option('--from <when>', 'from this day (UTC) or instant')
    .option('--to <when>', 'up to and including this day, or before this instant')
    .option('--out <file>', 'a new file, readable to you only, instead of standard output')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nWith --json the counts are printed as JSON on standard error. The export is an audit event itself.',
    )
    .addHelpText('after', examples('duebook audit export --tenant acme --from 2026-01-01 > audit.jsonl'))
    .action(
      async ({
        tenant,
        source,
        from,
        to,
        out,
        json,
      }: Options & { readonly from?: string; readonly to?: string; readonly out?: string }) => {
        const filter = period({ from, to });
        const config = await configuration(cli, { quiet: json === true });
        const file = out === undefined ? undefined : outFile(out);
        try {
          const events = await withPlanes(config, cli, async (planes) => {
            let written = 0;
            for (const chain of await chainsOf(planes, { slug: tenant, source })) {
              const means = { keyRing: config.keyRing, clock: cli.clock, filter };
              for await (const event of exportChain(planes, chain, means)) {
                const line = JSON.stringify(event);
                if (file) file.write(`${line}\n`);
                else cli.io.data(line);
                written += 1;
              }
              await recordExport(planes, chain, means);
            }
            return written;
          });
          cli.io.message(json ? jsonText({ events }) : `${events} events.`);
        } finally {
          file?.close();
        }
      },
    );
};

function period(given: { from: string | undefined; to: string | undefined }): Period {
  try {
    return periodOf(given, 'UTC');
  } catch (error) {
    throw isFailure(error, 'INVALID_INPUT')
      ? misuse(error.details.issues.map(({ path, problem }) => `--${path} ${problem}`).join('; '))
      : error;
  }
}
