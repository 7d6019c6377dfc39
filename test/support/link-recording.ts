import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { newId } from '../../data-plane-agent/base/ids.js';
import { newLinkKey } from '../../data-plane-agent/base/link/keys.js';
import { LINK, PROTOCOLS } from '../../data-plane-agent/base/link/limits.js';
import { LINK_PATHS } from '../../data-plane-agent/base/link/messages.js';
import { versionOf } from '../../data-plane-agent/base/package-version.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import type { Operations } from '../../data-plane-agent/plane/operations/index.js';
import { linkedTenant } from './agent.js';
import { agentOf, changeWhatAgentsAreTold, controlPlaneOf, openDoor } from './link-stage.js';
import { frameOf, writeTranscript, type Line, type Transcript } from './link-transcript.js';
import { aCall } from './plane.js';
import { aContract, aLine } from './samples.js';
import { until } from './joined-agent.js';

const AT = '2026-11-23T09:00:00.000Z';
const CONTROL_PLANE = 'https://duebook.test';

/**
 * Records a session at the present version of the protocol, between the real programs: greeting, reads, a write that is
 * sent twice, a failure, notices of both sides, new keys, heartbeats, and the end that the control plane announces. Takes
 * as long as a heartbeat.
 */
export async function recordTranscript(): Promise<Transcript> {
  const cast = {
    at: AT,
    controlPlane: CONTROL_PLANE,
    connectionId: newId(),
    instanceId: newId(),
    tenant: linkedTenant(),
    agentKey: await newLinkKey(),
  };
  const { tenant } = cast;
  const server = await controlPlaneOf(cast);
  const lines: Line[] = [];
  const received = (from: Line['from'], type: string, count = 1): Promise<void> =>
    until(
      () => Promise.resolve(lines.filter((line) => line.from === from && frameOf(line).type === type).length >= count),
      `${count} × ${type} of the ${from} was recorded`,
      { ms: LINK.heartbeatMs + 10_000 },
    );
  let connectToken: string | undefined;
  const door = await openDoor((near, request) => {
    // One session is recorded; the agent opens another one when the control plane goes away.
    if (connectToken !== undefined) return near.close(1013, 'one session is enough');
    const authorization = request.headers.authorization ?? '';
    connectToken = authorization.replace('Bearer ', '');
    forward(near, { authorization, server: server.url, record: (line) => lines.push(line) });
    return undefined;
  });
  const keys = await server.foundation.links?.keys.publicKeys();
  const agent = await agentOf({ ...cast, controlPlaneKeys: keys ?? [] }, { port: door.port });
  try {
    await received('agent', 'notice');
    await until(
      async () =>
        (await server.services.tenants.connections.list(tenant.id)).some(({ status }) => status === 'connected'),
      'the agent is connected',
    );
    const ask = asker(server.foundation.dataPlanes.forTenant(tenant.id), tenant.id);
    const contract = aContract({ payments: [aLine(), aLine({ period: '2026-05', dueDate: '2026-05-31' })] });
    const idempotency = { key: 'transcript-1', requestHash: 'hash' };
    await ask('createContract', contract, { idempotency });
    await ask('createContract', contract, { idempotency });
    await ask('listContracts', { pageSize: 10 });
    await ask('listPayments', { tab: 'all' });
    await ask('getPaymentStats', {});
    await ask('getContract', { contractId: newId() });
    await ask('createContract', { ...contract, quantity: -1 });
    agent.agent.link.notice('outbox', null);
    await received('agent', 'notice', 2);
    await changeWhatAgentsAreTold(server, tenant.id);
    await received('controlPlane', 'notice', 2);
    const kid = (await server.foundation.links?.keys.signer())?.kid ?? '';
    await until(async () => (await agent.agent.identity.accepts(kid)) !== undefined, 'the agent has learned the key');
    await ask('planContractExport', { profile: 'full', filter: {} });
    await received('agent', 'ping');
    await received('controlPlane', 'ping');
    await sleep(100); // the answers to the pings
    await Promise.all([received('controlPlane', 'goAway'), server.foundation.links?.hub?.close()]);
  } finally {
    await agent.end();
    await server.stop();
    await door.close();
  }
  const transcript: Transcript = {
    facts: {
      protocol: PROTOCOLS.max,
      version: versionOf(import.meta.url),
      ...cast,
      connectToken: connectToken ?? '',
      controlPlaneKeys: keys ?? [],
    },
    // What the agent says when it is stopped itself is no part of the session.
    lines: lines.slice(
      0,
      lines.findIndex((line) => line.from === 'agent' && frameOf(line).type === 'goAway'),
    ),
  };
  await writeTranscript(transcript);
  return transcript;
}

/** Passes on the messages of an agent's WebSocket. */
function forward(
  near: WebSocket,
  {
    authorization,
    server,
    record,
  }: { readonly authorization: string; readonly server: string; readonly record: (line: Line) => void },
): void {
  const far = new WebSocket(`${server.replace('http', 'ws')}${LINK_PATHS.connect}`, LINK.subprotocol, {
    headers: { Authorization: authorization },
    perMessageDeflate: false,
  });
  const early: Buffer[] = [];
  near.on('message', (data: Buffer) => {
    record({ from: 'agent', frame: data.toString('base64') });
    if (far.readyState === WebSocket.OPEN) far.send(data);
    else early.push(data);
  });
  far.on('open', () => {
    for (const data of early.splice(0)) far.send(data);
  });
  far.on('message', (data: Buffer) => {
    record({ from: 'controlPlane', frame: data.toString('base64') });
    near.send(data);
  });
  far.on('close', (code, reason) => near.close(sendable(code), reason));
  near.on('close', (code, reason) => far.close(sendable(code), reason));
}

/** RFC 6455: 1005 and 1006 say that there was none. */
const sendable = (code: number): number => (code === 1005 || code === 1006 ? 1001 : code);

type Invoke = ReturnType<Awaited<ReturnType<typeof controlPlaneOf>>['foundation']['dataPlanes']['forTenant']>;

const asker =
  (plane: Invoke, tenantId: string) =>
  async (name: keyof Operations, input: object, changes: Partial<Call> = {}): Promise<void> => {
    const call: Call = { ...aCall(), tenantId, today: '2026-11-23', timeZone: 'Asia/Shanghai', ...changes };
    try {
      await plane.invoke(name, { call }, input as never); // checked by the agent
    } catch (error) {
      if (!isFailure(error)) throw error;
    }
  };
