import { readFileSync } from 'node:fs';
import { isId } from '../data-plane-agent/base/ids.js';
import { HEAD_MESSAGE } from '../server/audit/head-message.js';
import type { KeptHead } from '../server/audit/verify.js';
import type { Chain, Source } from './audit-chains.js';
import { misuse } from './errors.js';

/** A head of a chain that was saved earlier. */
export interface KeptChain extends KeptHead {
  readonly source: Source;
  readonly tenantId: string | null;
}

/** Reads heads from the output of `audit head --json` or from a server log. Throws USAGE for a file without heads. */
export function readKeptHeads(path: string): KeptChain[] {
  const text = readText(path);
  const whole = parsed(text);
  const heads =
    isRecord(whole) && Array.isArray(whole['heads'])
      ? whole['heads'].map((head) => keptOf(head) ?? bad(path))
      : text.split('\n').flatMap((line) => loggedOf(line, path));
  if (heads.length === 0)
    throw misuse(
      `--expect ${path} contains no heads: it is neither output of "duebook audit head --json" nor a server log with lines of "${HEAD_MESSAGE}"`,
    );
  return heads;
}

export const isOf = (kept: KeptChain, { source, tenantId }: Pick<Chain, 'source' | 'tenantId'>): boolean =>
  kept.source === source && kept.tenantId === tenantId;

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw misuse(
      `--expect ${path} cannot be read: ${error instanceof Error && 'code' in error ? String(error.code) : String(error)}`,
    );
  }
}

/** Skips other lines of a log. A malformed head is an error. */
function loggedOf(line: string, path: string): KeptChain[] {
  const record = parsed(line);
  return isRecord(record) && record['msg'] === HEAD_MESSAGE ? [keptOf(record) ?? bad(path)] : [];
}

function keptOf(value: unknown): KeptChain | undefined {
  if (!isRecord(value)) return undefined;
  const { source, tenantId, events, hash } = value;
  if (source !== 'platform' && source !== 'data') return undefined;
  if (tenantId !== null && !(typeof tenantId === 'string' && isId(tenantId))) return undefined;
  if (
    typeof events !== 'number' ||
    !Number.isSafeInteger(events) ||
    events < 0 ||
    typeof hash !== 'string' ||
    !/^[0-9a-f]{64}$/.test(hash)
  )
    return undefined;
  return { source, tenantId, events, hash };
}

function bad(path: string): never {
  throw misuse(`--expect ${path} has a head without valid source, tenantId, events or hash`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A log has one JSON value per line, and may contain other lines.
    return undefined;
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
