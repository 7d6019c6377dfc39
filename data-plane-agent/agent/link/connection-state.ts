import type { Log } from '../../base/log.js';
import { CLOSED } from '../../base/link/limits.js';
import type { LinkClosed } from '../../base/link/session.js';

/**
 * Whether the agent is connected, and if not, why: `lost` (it was), `unreachable`, `refused` (by a proxy or because the
 * token was not accepted), and the refusals that only a person can end.
 */
export type ConnectionState =
  | 'connecting'
  | 'connected'
  | 'lost'
  | 'unreachable'
  | 'refused'
  | 'revoked'
  | 'suspended'
  | 'incompatible'
  | 'stopped';

/** An attempt to connect failed, or a connection ended. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected';

  /** When the control plane wants the next attempt at the earliest, in milliseconds from now. */
  readonly retryAfterMs: number;

  constructor(
    readonly state: Exclude<ConnectionState, 'connecting' | 'connected' | 'stopped'>,
    message: string,
    { retryAfterMs = 0, ...options }: ErrorOptions & { readonly retryAfterMs?: number } = {},
  ) {
    super(message, options);
    this.retryAfterMs = retryAfterMs;
  }
}

const BY_CODE = new Map<number, NotConnected['state']>([
  [CLOSED.revoked, 'revoked'],
  [CLOSED.cloned, 'suspended'],
  [CLOSED.incompatible, 'incompatible'],
  [CLOSED.unauthorized, 'refused'],
]);

export const endedBy = ({ code, reason }: LinkClosed): NotConnected =>
  new NotConnected(BY_CODE.get(code) ?? 'lost', `close code ${code}${reason === '' ? '' : `, ${reason}`}`);

/** Logs each change once, with what to do about it. */
export function createConnectionState({ controlPlane, log }: { readonly controlPlane: string; readonly log: Log }) {
  let state: ConnectionState = 'connecting';
  const changed = (to: ConnectionState): boolean => {
    const isChange = state !== to && state !== 'stopped';
    if (isChange) state = to;
    return isChange;
  };
  return {
    get state() {
      return state;
    },
    connected: (fields: Readonly<Record<string, unknown>>): void => {
      if (changed('connected')) log.info({ controlPlane, ...fields }, 'connected to the control plane');
    },
    stopped: (): void => {
      if (changed('stopped')) log.info({ controlPlane }, 'the link to the control plane was closed');
    },
    notConnected: ({ state: to, message: reason, cause: err }: NotConnected): void => {
      if (!changed(to)) return;
      const fields = { controlPlane, reason, fix: FIXES[to], ...(err === undefined ? {} : { err }) };
      if (to === 'lost') log.warn(fields, 'the connection to the control plane was lost');
      if (to === 'unreachable') log.warn(fields, 'the control plane cannot be reached');
      if (to === 'refused') log.error(fields, 'the control plane does not accept this agent');
      if (to === 'revoked') log.error(fields, 'the connection of this agent was revoked');
      if (to === 'suspended')
        log.error(fields, 'the connection of this agent is suspended: its data directory was copied');
      if (to === 'incompatible')
        log.error(fields, 'this agent and the control plane have no protocol version in common');
    },
  };
}

const REJOIN = 'create a new join token in the control plane and run "duebook-agent rejoin" with it';
const FIXES: Readonly<Record<NotConnected['state'], string>> = {
  lost: 'nothing: the agent connects again by itself',
  unreachable:
    'check the address of the control plane, the firewall and the proxy with "duebook-agent doctor"; the agent tries again by itself',
  refused: `compare the clocks of both machines; if they agree, ${REJOIN}`,
  revoked: `if this agent is to serve again, ${REJOIN}; nothing of its data was changed`,
  suspended: `make sure that only one agent runs with this data directory, then ${REJOIN}`,
  incompatible: 'upgrade the older of the two programs',
};
