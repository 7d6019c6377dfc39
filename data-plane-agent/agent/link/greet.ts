import { verifyAnnouncement, WELCOME } from '../../base/link/announcement.js';
import { CLOSED, includes } from '../../base/link/limits.js';
import { Welcome, type Hello } from '../../base/link/messages.js';
import { newerToo } from '../../base/link/reading.js';
import type { LinkMessage, LinkSession } from '../../base/link/session.js';
import { TokenRefused, type SeenTokens } from '../../base/link/tokens.js';
import type { Clock } from '../../base/clock.js';
import { NotConnected } from './connection-state.js';
import type { LinkIdentity } from './identity.js';

/**
 * Says hello and returns the welcome, which must be signed with a key that the agent accepts already: it may have new
 * ones. Throws NotConnected.
 */
export async function greet(
  session: LinkSession,
  hello: Hello,
  {
    identity,
    clock,
    seen,
    signal,
  }: {
    readonly identity: LinkIdentity;
    readonly clock: Clock;
    readonly seen: SeenTokens;
    readonly signal: AbortSignal;
  },
): Promise<Welcome> {
  const reply = await session.request({ head: { op: 'hello' }, body: Buffer.from(JSON.stringify(hello)) }, { signal });
  const welcome = welcomeIn(reply);
  if (!includes(hello.protocols, welcome.protocol)) {
    session.close(CLOSED.incompatible, 'the protocol version is not one of the agent');
    throw new NotConnected('incompatible', `the control plane chose version ${welcome.protocol} of the protocol`);
  }
  const { token } = reply.head;
  try {
    await verifyAnnouncement(
      { token: typeof token === 'string' ? token : '', json: Buffer.from(reply.body).toString() },
      { ...identity, session: welcome.sid },
      { topic: WELCOME, keyOf: identity.accepts, clock, seen },
    );
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
    session.close(CLOSED.unauthorized, 'the welcome was refused');
    throw new NotConnected('refused', `the signature of the welcome was not accepted: ${error.message}`, {
      cause: error,
    });
  }
  return welcome;
}

function welcomeIn({ head, body }: LinkMessage): Welcome {
  const checked = head['op'] === WELCOME ? newerToo(Welcome)(parsed(body)) : undefined;
  if (checked?.ok) return checked.value;
  const [issue] = checked?.issues ?? [];
  throw new NotConnected(
    'unreachable',
    `the control plane answered the hello with something else${issue ? `: ${issue.path} ${issue.problem}` : ''}`,
  );
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch {
    // No schema accepts it.
    return undefined;
  }
}
