import type { Agent } from 'node:http';
import type { Clock } from '../base/clock.js';
import type { AgentReport, Hello, Welcome } from '../base/link/messages.js';
import type { LinkMessage } from '../base/link/session.js';
import type { Log } from '../base/log.js';
import type { LinkIdentity } from './link/identity.js';

/** The link of a running agent, whichever transport it uses. */
export interface AgentLink {
  /** `direct`: the control plane calls this agent, which does not know whether it still does. */
  readonly state: 'direct' | 'connected' | 'disconnected';
  /** The same in detail, such as `revoked` or `unreachable`, for an agent that connects by itself. */
  readonly connection?: string | undefined;
  /** Sessions that are open. */
  readonly sessions: number;
  notice(topic: string, value: unknown): void;
  /** Announces the end, completes what runs, and closes. */
  stop(): Promise<void>;
}

/** What a link does for its agent, and what the agent does for its link. */
export interface LinkParts {
  readonly identity: LinkIdentity;
  /** The agent's state; its number of the session is ignored. */
  readonly hello: () => Promise<Hello>;
  readonly answer: (
    message: LinkMessage,
    options: { readonly signal: AbortSignal; readonly sid: string },
  ) => Promise<LinkMessage>;
  /** Its keys have been verified. The control plane sends requests once the promise is fulfilled. */
  readonly onWelcome: (welcome: Welcome) => Promise<void>;
  /** The value of `keys` has been verified. */
  readonly onNotice: (topic: string, value: unknown) => void;
  readonly report: () => AgentReport;
  readonly log: Log;
  readonly clock: Clock;
  readonly httpAgent?: Agent | undefined;
}

export type Connect = (parts: LinkParts) => AgentLink;

/** Of an agent that the control plane calls. */
export const DIRECT: AgentLink = {
  state: 'direct',
  sessions: 0,
  notice: () => undefined, // the control plane asks
  stop: () => Promise.resolve(),
};
