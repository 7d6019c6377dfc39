import type { ChannelAdapter } from './adapter.js';
import { dingtalk } from './dingtalk.js';
import { email } from './email.js';
import { feishu } from './feishu.js';
import { slack } from './slack.js';
import { teams } from './teams.js';
import { webhook } from './webhook.js';
import { wecom } from './wecom.js';

/** The kinds of notification channels, in the order of the reference. */
const ADAPTERS = { email, webhook, slack, teams, feishu, dingtalk, wecom } as const satisfies Readonly<
  Record<string, ChannelAdapter>
>;

export type ChannelKind = keyof typeof ADAPTERS;

const isKind = (kind: string): kind is ChannelKind => Object.hasOwn(ADAPTERS, kind);
export const CHANNEL_KINDS: readonly ChannelKind[] = Object.keys(ADAPTERS).filter(isKind);

/** Throws for a kind that this version does not know. */
export function adapterOf(kind: string): ChannelAdapter {
  if (!isKind(kind)) throw new RangeError(`there is no kind of channel named ${kind}`);
  return ADAPTERS[kind];
}
