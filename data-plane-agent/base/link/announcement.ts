import { newId } from '../ids.js';
import { signRequest, verifyRequest, type RequestFacts } from './envelope.js';
import { TokenRefused } from './tokens.js';

/**
 * What the control plane tells an agent over a session, signed like a request: its welcome (the token is in the head of
 * the reply, the JSON is its body) and new keys (both are the value of a notice). Without this, a proxy at which TLS
 * ends could introduce keys of its own.
 */
export interface Announcement {
  readonly token: string;
  readonly json: string;
}

/** The topic of a welcome; that of a notice is its own. */
export const WELCOME = 'welcome';

export async function announce(
  facts: RequestFacts,
  {
    topic,
    value,
    ...by
  }: { readonly topic: string; readonly value: unknown } & Pick<Parameters<typeof signRequest>[1], 'signer' | 'clock'>,
): Promise<Announcement> {
  const json = JSON.stringify(value);
  const about = { operation: topic, subject: facts.controlPlane, body: Buffer.from(json), jti: newId() };
  const { token } = signRequest(facts, { ...about, ...by });
  return { token, json };
}

/** Throws TokenRefused. */
export async function verifyAnnouncement(
  { token, json }: Announcement,
  facts: RequestFacts,
  { topic, ...by }: { readonly topic: string } & Parameters<typeof verifyRequest>[2],
): Promise<void> {
  const { op } = await verifyRequest({ token, body: Buffer.from(json) }, facts, by);
  if (op !== topic) throw new TokenRefused('claims', 'the token is for something else');
}

/** The announcement in the value of a notice; undefined if it is none. */
export function announcementIn(value: unknown): Announcement | undefined {
  if (typeof value !== 'object' || value === null || !('token' in value) || !('json' in value)) return undefined;
  const { token, json } = value;
  return typeof token === 'string' && typeof json === 'string' ? { token, json } : undefined;
}
