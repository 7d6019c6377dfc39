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
    .description('What was done, by whom and when: whether it is all there, and a copy of it.')
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
    .description('Prints how far every chain has come: the number of its events and the hash of the last.')
    .option('--tenant <slug>', 'only one organisation')
    .addOption(sourceOption())
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nKeep what --json prints where nobody who has the database can reach: "duebook audit verify --expect" compares with it later.\nThe server writes the same to its log every day, as lines with "audit head".',
    )
    .addHelpText('after', examples('duebook audit head --json > heads.json', 'duebook audit head --tenant acme'))
    .action(async ({ tenant, source, json }: Options) => {
      const config = configuration(cli, { quiet: json === true });
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
      'Looks whether an event was changed or removed since it was chained, or the end cut off, and names it. Changes nothing.',
    )
    .option('--tenant <slug>', 'only one organisation')
    .addOption(sourceOption())
    .option('--expect <file>', 'heads that were kept elsewhere: of "audit head --json", or a log of the server')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nExits 1 when something is wrong, and when --expect holds no head of what is checked. What was written in the last seconds waits to be chained and is not checked.\nThe end of a chain can be cut off so that nothing in the database tells of it; --expect finds that too.',
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
      const config = configuration(cli, { quiet: json === true });
      const checked = await withPlanes(config, cli, async (planes) => {
        const chains = await chainsOf(planes, { slug: tenant, source });
        const results: CheckedChain[] = tenant === undefined ? lostOf(kept, { chains, planes, source }) : [];
        for (const chain of chains) {
          const ofIt = kept.filter((head) => isOf(head, chain) && head.events > 0);
          const verified = await verifyOne(planes, chain, {
            keyRing: config.keyRing,
            clock: cli.clock,
            kept: ofIt,
            onProgress: (events) => cli.io.progress(`${nameOf(chain)}: ${events}`),
          });
          results.push({ chain, kept: ofIt.length, verified });
        }
        return results;
      });
      cli.io.progress('');
      const broken = checked.filter(({ verified }) => verified.faults.length > 0);
      const comparedNone = expect !== undefined && checked.every(({ kept: heads }) => heads === 0);
      if (json) cli.io.data(jsonText({ ok: broken.length === 0 && !comparedNone, chains: checked.map(jsonOf) }));
      else
        for (const {
          chain,
          kept: keptOfIt,
          verified: { events, hash, faults, waiting },
        } of checked) {
          cli.io.data(
            `${faults.length === 0 ? 'ok  ' : 'FAIL'}  ${nameOf(chain)}: ${events} events, ${waiting} not chained yet, hash ${hash}`,
          );
          for (const fault of faults) cli.io.data(`      ${faultText(fault)}`);
          if (expect !== undefined && keptOfIt === 0)
            cli.io.data('      not compared: no head of it was kept, or one of no events');
        }
      if (broken.length > 0)
        throw new CommandError(
          'AUDIT_BROKEN',
          `the audit was tampered with: ${broken.map(({ chain }) => nameOf(chain)).join(', ')}`,
        );
      if (comparedNone)
        throw new CommandError(
          'NOTHING_COMPARED',
          `--expect ${expect} holds no head of the chains that were checked, or only heads of no events: nothing was compared`,
        );
    });
};

interface CheckedChain {
  readonly chain: Chain;
  /** Heads that it was compared with; one of no events says nothing. */
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

/** Chains of which a head was kept and that are not there; of contract data only where it is kept here. */
function lostOf(
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
    .description('Writes audit events as JSON lines, oldest first, each with its place in the chain.')
    .option('--tenant <slug>', 'only one organisation')
    .addOption(sourceOption())
    .option('--from <when>', 'from this day (UTC) or instant on')
    .option('--to <when>', 'to this day, included, or before this instant')
    .option('--out <file>', 'a new file, readable to you only, instead of standard output')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nWith --json the counts are told in JSON on standard error. The export is an audit event itself.',
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
        const config = configuration(cli, { quiet: json === true });
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
