import type { Fault } from '../base/config.js';
import { s, type Static } from '../base/schema.js';
import { checker } from '../base/validation.js';
import { OPERATION_NAMES, OPERATIONS, type Operations } from '../plane/operations/index.js';
import type { AgentConfig } from './config.js';
import { readIfThere } from './stored-files.js';

/** Which operations this agent refuses, whatever the control plane asks for. It can only narrow. */
const PolicyFile = s.object({
  /** Refuses every operation that changes contract data. */
  readOnly: s.omittable(s.flag()),
  /** `false` refuses the operations that hand out the whole book or the whole audit. */
  export: s.omittable(s.flag()),
  /** Further operations to refuse, by name. */
  deny: s.omittable(s.list(s.text({ max: 100 }), 1_000)),
});
type PolicyFile = Static<typeof PolicyFile>;

export interface Policy {
  refuses(operation: string): boolean;
  /** For log and doctor, as a phrase. */
  readonly summary: string;
}

type OperationName = keyof Operations;

/** The operations that hand out everything that the caller may see, in one document. */
export const EXPORTING: readonly OperationName[] = [
  'exportContracts',
  'planContractExport',
  'exportInvoices',
  'planInvoiceExport',
  'exportAudit',
  'readRowsToMove',
  'readLongText',
  'readFilePart',
];

/**
 * Writes that change no contract data. Downloads and exports are recorded in the audit. The others keep the outbox
 * going: a message that was sent, but not settled, would be sent again.
 */
export const READ_ONLY_WRITES: readonly OperationName[] = [
  'chainAudit',
  'downloadFile',
  'leaseMessages',
  'lookForWork',
  'recordExport',
  'recordInvoiceExport',
  'removeEnded',
  'settleMessages',
  'settleReminders',
];

export const ALLOWS_ALL: Policy = policyOf({});

export type ReadPolicy =
  { readonly ok: true; readonly policy: Policy } | { readonly ok: false; readonly faults: readonly Fault[] };

/** Reads the policy file; a missing one is a policy that refuses nothing, unless it is `required`. */
export function readPolicy({ path, required }: { readonly path: string; readonly required: boolean }): ReadPolicy {
  const fault = (problem: string): Fault => ({ name: 'POLICY_FILE', problem });
  let text: string | undefined;
  try {
    text = readIfThere(path);
  } catch (error) {
    return { ok: false, faults: [fault(`cannot be read (${path}: ${reasonOf(error)})`)] };
  }
  if (text === undefined)
    return required ? { ok: false, faults: [fault(`names a file that does not exist: ${path}`)] } : allowing;
  const parsed = parse(text);
  if (!parsed.ok) return { ok: false, faults: [fault(`is not valid JSON (${path}: ${parsed.problem})`)] };
  const checked = checker(PolicyFile)(parsed.value);
  if (!checked.ok)
    return { ok: false, faults: checked.issues.map((issue) => fault(`: ${issue.path} ${issue.problem} (${path})`)) };
  const unknown = (checked.value.deny ?? []).filter((name) => !Object.hasOwn(OPERATIONS, name));
  if (unknown.length > 0)
    return {
      ok: false,
      faults: unknown.map((name) => fault(`: deny has ${JSON.stringify(name)}, which is no operation (${path})`)),
    };
  return { ok: true, policy: policyOf(checked.value) };
}

/** The file at the default place may be missing; one that was set may not. */
export const policyFileOf = ({
  policyFile,
  dataDir,
}: Pick<AgentConfig, 'policyFile' | 'dataDir'>): { readonly path: string; readonly required: boolean } => ({
  path: policyFile,
  required: policyFile !== `${dataDir}/policy.json`,
});

const allowing: ReadPolicy = { ok: true, policy: ALLOWS_ALL };

function policyOf({ readOnly = false, export: exports = true, deny = [] }: PolicyFile): Policy {
  const refused = new Set<string>([
    ...(readOnly ? OPERATION_NAMES.filter((name) => OPERATIONS[name].effect === 'write') : []),
    ...(exports ? [] : EXPORTING),
  ]);
  if (readOnly) for (const name of READ_ONLY_WRITES) refused.delete(name);
  // What is named is refused in any case.
  for (const name of deny) refused.add(name);
  const parts = [
    ...(readOnly ? ['read-only'] : []),
    ...(exports ? [] : ['no export']),
    ...(deny.length > 0 ? [`denied: ${deny.join(', ')}`] : []),
  ];
  return {
    refuses: (operation) => refused.has(operation),
    summary: parts.length === 0 ? 'refuses nothing' : parts.join('; '),
  };
}

type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

function parse(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
