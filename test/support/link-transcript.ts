import { Agent as HttpsAgent } from 'node:https';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect, type ConnectionOptions } from 'node:tls';
import { decodeJwt, type JWTPayload } from 'jose';
import { decodeFrame, type Frame } from '../../data-plane-agent/base/link/frames.js';
import type { LinkKeyPair, PublicKey } from '../../data-plane-agent/base/link/keys.js';
import type { LinkedTenant } from '../../data-plane-agent/base/link/messages.js';
import { LOCAL_CERTIFICATE } from './certificate.js';

/**
 * The frames of one session between a control plane and an agent, as both sent them at a version of the protocol. JSON
 * lines: first `TranscriptFacts`, then a `Line` for each message.
 */
export interface Transcript {
  readonly facts: TranscriptFacts;
  readonly lines: readonly Line[];
}

/** What both sides knew before the session. The keys are the test's own. */
export interface TranscriptFacts {
  readonly protocol: number;
  /** The version of the product that was recorded. */
  readonly version: string;
  /** The clocks of both sides stood still at this instant. */
  readonly at: string;
  readonly controlPlane: string;
  readonly connectionId: string;
  readonly instanceId: string;
  readonly tenant: LinkedTenant;
  /** The token with which the agent asked for the WebSocket. */
  readonly connectToken: string;
  readonly agentKey: LinkKeyPair;
  /** The keys of the control plane that the agent had pinned. */
  readonly controlPlaneKeys: readonly PublicKey[];
}

export interface Line {
  readonly from: 'agent' | 'controlPlane';
  /** The message of the WebSocket, in base64. */
  readonly frame: string;
}

const FOLDER = join(import.meta.dirname, 'link-transcripts');

export const transcriptFile = (protocol: number): string => join(FOLDER, `protocol-${protocol}.jsonl`);

/** The versions of which there is a transcript, in order. */
export async function recordedProtocols(): Promise<number[]> {
  const names = await readdir(FOLDER);
  return names.map((name) => Number(/^protocol-(\d+)\.jsonl$/.exec(name)?.[1])).toSorted((a, b) => a - b);
}

export async function readTranscript(protocol: number): Promise<Transcript> {
  const [first = '', ...lines] = (await readFile(transcriptFile(protocol), 'utf8')).trimEnd().split('\n');
  return { facts: JSON.parse(first) as TranscriptFacts, lines: lines.map((line) => JSON.parse(line) as Line) };
}

export const writeTranscript = ({ facts, lines }: Transcript): Promise<void> =>
  writeFile(transcriptFile(facts.protocol), [facts, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''));

export const bytesOf = ({ frame }: Line): Buffer => Buffer.from(frame, 'base64');
export const frameOf = (line: Line): Frame => decodeFrame(bytesOf(line));

/** The JSON of a payload. */
export const jsonIn = <T = Readonly<Record<string, unknown>>>(payload: Uint8Array): T =>
  JSON.parse(Buffer.from(payload).toString('utf8')) as T;

/**
 * The form of a value: names of fields and types of values. Of a list, the forms of its items, each once. A token is the
 * names of its claims.
 */
export function formOf(value: unknown): unknown {
  if (value === null) return 'null';
  if (typeof value === 'string' && /^ey[\w-]+\.[\w-]+\.[\w-]+$/.test(value)) return { token: formOf(claimsOf(value)) };
  if (Array.isArray(value)) return [...new Map(value.map(formOf).map((form) => [JSON.stringify(form), form])).values()];
  if (typeof value !== 'object') return typeof value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, field]): [string, unknown] => [name, formOf(field)])
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

export const claimsOf = (token: string): JWTPayload => decodeJwt(token);

/** For an agent: each connection goes to a TLS server on this machine, whatever the name of its control plane. */
export class Tunnel extends HttpsAgent {
  constructor(private readonly port: number) {
    super();
  }

  override createConnection(options: ConnectionOptions) {
    return connect({ ...options, host: '127.0.0.1', port: this.port, servername: 'localhost', ca: LOCAL_CERTIFICATE });
  }
}
