import { expect } from 'chai';
import type { IncomingMessage } from 'node:http';
import { decodeProtectedHeader } from 'jose';
import type { WebSocket } from 'ws';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { verifyAnnouncement, WELCOME } from '../../data-plane-agent/base/link/announcement.js';
import { signReply, verifyReply, verifyRequest, type RequestFacts } from '../../data-plane-agent/base/link/envelope.js';
import { decodeFrame, encodeFrame, type Frame, type FrameType } from '../../data-plane-agent/base/link/frames.js';
import { keyIdOf, signerOf, verifierOf, type PublicKey } from '../../data-plane-agent/base/link/keys.js';
import { LINK, PROTOCOLS } from '../../data-plane-agent/base/link/limits.js';
import type { Welcome } from '../../data-plane-agent/base/link/messages.js';
import { createSeenTokens } from '../../data-plane-agent/base/link/tokens.js';
import type { WireReply, WireRequest } from '../../data-plane-agent/plane/contract/wire.js';
import type { Operations } from '../../data-plane-agent/plane/operations/index.js';
import { fakeTimers } from '../base/link-support.js';
import { fakeClock } from '../support/clock.js';
import { until } from '../support/joined-agent.js';
import { recordTranscript } from '../support/link-recording.js';
import { agentOf, changeWhatAgentsAreTold, controlPlaneOf, openDoor } from '../support/link-stage.js';
import {
  bytesOf,
  claimsOf,
  formOf,
  frameOf,
  jsonIn,
  readTranscript,
  recordedProtocols,
  type Line,
  type Transcript,
} from '../support/link-transcript.js';
import { upgrade } from '../support/raw-agent.js';

/** `UPDATE_TRANSCRIPT=1` records the present version anew: see `docs/decisions/0013-link.md`. */
const RECORDS = process.env['UPDATE_TRANSCRIPT'] === '1';
const RECORD_ANEW =
  'the protocol has changed: after a release that needs a new version of it (docs/decisions/0013-link.md); before, record it anew with UPDATE_TRANSCRIPT=1';

/** The frames of one side, of a transcript or as they arrive. */
interface Frames {
  /** The first frame of the type that was not taken, of the stream or with the operation in its head. */
  take(type: FrameType, of?: { readonly stream?: number; readonly op?: string }): Promise<Frame>;
}

function framesOf(ws: WebSocket, onFrame: (frame: Frame) => void = () => undefined): Frames {
  const all: Frame[] = [];
  const taken = new Set<Frame>();
  ws.on('message', (data: Buffer) => {
    const frame = decodeFrame(data);
    all.push(frame);
    onFrame(frame);
  });
  return {
    take: async (type, of = {}) => {
      const { stream, op } = of;
      const find = (): Frame | undefined =>
        all.find(
          (one) =>
            !taken.has(one) &&
            one.type === type &&
            (stream === undefined || one.stream === stream) &&
            (op === undefined || jsonIn(one.payload)['op'] === op),
        );
      await until(
        () => Promise.resolve(find() !== undefined),
        `a frame of type ${type} arrives (${JSON.stringify(of)})`,
      );
      const found = find();
      if (!found) throw new Error('the frame is gone');
      taken.add(found);
      return found;
    },
  };
}

function sameForm(present: unknown, recorded: unknown, what: string): void {
  expect(formOf(present), `${what}: ${RECORD_ANEW}`).to.deep.equal(formOf(recorded));
}

/** The recorded body that follows the frame at `index`. */
function bodyAfter(lines: readonly Line[], index: number): Buffer {
  const { stream, last } = frameOf(lines[index] ?? { from: 'agent', frame: '' });
  if (last) return Buffer.alloc(0);
  const body = lines
    .slice(index + 1)
    .map(frameOf)
    .find((frame) => frame.type === 'data' && frame.stream === stream);
  if (body?.last !== true) throw new Error(`the body of stream ${stream} is not one frame`);
  return Buffer.from(body.payload);
}

const factsIn = ({ facts }: Transcript, session: string): RequestFacts => ({
  controlPlane: facts.controlPlane,
  connectionId: facts.connectionId,
  tenantId: facts.tenant.id,
  session,
});

const among = (keys: readonly PublicKey[]) => async (kid: string) => {
  for (const key of keys) if ((await keyIdOf(key)) === kid) return verifierOf(key);
  return undefined;
};

const isReplyOn =
  (stream: number) =>
  (line: Line): boolean => {
    const frame = frameOf(line);
    return line.from === 'agent' && frame.type === 'response' && frame.stream === stream;
  };

/** The replies that were recorded, by stream. */
const repliesOf = ({ lines }: Transcript): ReadonlyMap<number, WireReply> =>
  new Map(
    lines.flatMap((line, index) => {
      const { type, stream } = frameOf(line);
      return line.from === 'agent' && type === 'response' ? [[stream, jsonIn<WireReply>(bodyAfter(lines, index))]] : [];
    }),
  );

describe('the recorded transcripts of the link', () => {
  before('record', async function () {
    this.timeout(240_000);
    if (RECORDS) await recordTranscript();
  });

  it('are of each version that this program speaks', async () => {
    const { min, max } = PROTOCOLS;
    expect(await recordedProtocols()).to.include.members(Array.from({ length: max - min + 1 }, (_, i) => min + i));
  });

  it('have a greeting, operations with their outcomes, notices, heartbeats and an announced end', async () => {
    const transcript = await readTranscript(PROTOCOLS.max);
    const types = new Set(transcript.lines.map((line) => `${line.from} ${frameOf(line).type}`));
    expect([...types]).to.include.members([
      'agent request',
      'controlPlane response',
      'agent notice',
      'controlPlane request',
      'agent response',
      'controlPlane notice',
      'agent ping',
      'controlPlane pong',
      'controlPlane ping',
      'agent pong',
      'controlPlane goAway',
    ]);
    const replies = [...repliesOf(transcript).values()];
    expect(replies.filter((reply) => reply.ok && !reply.replayed).length).to.be.at.least(5);
    expect(replies.filter((reply) => reply.ok && reply.replayed)).to.have.length(1);
    expect(replies.flatMap((reply) => ('code' in reply ? [reply.code] : []))).to.deep.equal([
      'NOT_FOUND',
      'INVALID_INPUT',
    ]);
  });

  for (let protocol = PROTOCOLS.min; protocol <= PROTOCOLS.max; protocol++) {
    it(`version ${protocol}: the agent's side is served by the control plane as it was`, async function () {
      this.timeout(180_000);
      await replayAgent(await readTranscript(protocol));
    });

    it(`version ${protocol}: the control plane's side is answered by the agent as it was`, async function () {
      this.timeout(180_000);
      await replayControlPlane(await readTranscript(protocol));
    });
  }
});

/** The recorded agent against the real control plane. Only the tokens of its replies are new: each names its request. */
async function replayAgent(transcript: Transcript): Promise<void> {
  const { facts, lines } = transcript;
  const replies = repliesOf(transcript);
  const clock = fakeClock(facts.at);
  const server = await controlPlaneOf(facts);
  const { links, dataPlanes } = server.foundation;
  if (!links?.hub) throw new Error('the server has no links');
  try {
    const ws = await upgrade(server.url, { token: facts.connectToken });
    if ('status' in ws) throw new Error(`the recorded token was refused: ${ws.status} ${JSON.stringify(ws.body)}`);
    const closed = new Promise<number>((resolve) => ws.once('close', resolve));
    const present = framesOf(ws, ({ type, stream }) => {
      if (type === 'ping') ws.send(encodeFrame({ type: 'pong', stream }));
    });
    const seen = createSeenTokens({ clock });
    let sid = '';
    let answered = 0;

    const invoked = ({ name, call, input }: WireRequest): Promise<WireReply> =>
      dataPlanes
        .forTenant(facts.tenant.id)
        .invoke(name as keyof Operations, { call }, input as never)
        .then(
          (answer): WireReply => ({ ok: true, ...answer }),
          (error: unknown): WireReply => {
            if (!isFailure(error)) throw error;
            return { ok: false, code: error.code, details: error.details, replayed: error.replayed };
          },
        );

    /** The control plane asks for the same operation, in the same form; the agent answers with the recorded bytes. */
    const operation = async (index: number, recorded: Frame): Promise<void> => {
      const request = jsonIn<WireRequest>(bodyAfter(lines, index));
      // Of its own accord, for its background work: then the id of the request is another one.
      const isOwn = request.call.actor.kind === 'system';
      const outcome = isOwn ? undefined : invoked(request);
      const { stream, payload } = await present.take('request', { op: request.name });
      const body = Buffer.from((await present.take('data', { stream })).payload);
      const asked = jsonIn<WireRequest>(body);
      const { requestId } = isOwn ? asked.call : request.call;
      expect(asked, `${request.name}: ${RECORD_ANEW}`).to.deep.equal({
        ...request,
        call: { ...request.call, requestId },
      });
      const head = jsonIn<{ op: string; token: string }>(payload);
      sameForm(head, jsonIn(recorded.payload), `the head of ${request.name}`);
      await verifyRequest({ token: head.token, body }, factsIn(transcript, sid), {
        keyOf: among(await links.keys.publicKeys()),
        clock,
        seen,
      });
      const reply = bodyAfter(lines, lines.findIndex(isReplyOn(recorded.stream)));
      const token = signReply(factsIn(transcript, sid), {
        jti: claimsOf(head.token).jti ?? '',
        body: reply,
        signer: signerOf(facts.agentKey),
        clock,
      });
      ws.send(encodeFrame({ type: 'response', stream, payload: Buffer.from(JSON.stringify({ token })) }));
      ws.send(encodeFrame({ type: 'data', stream, last: true, payload: reply }));
      answered += 1;
      if (outcome) expect(await outcome, request.name).to.deep.equal(replies.get(recorded.stream));
    };

    let isToldNews = false;
    for (const [index, line] of lines.entries()) {
      const recorded = frameOf(line);
      const { type, stream, payload } = recorded;
      if (line.from === 'agent') {
        // Replies are sent when they are asked for, and pings of this run are answered at once.
        const isReply = type === 'response' || type === 'pong' || (type === 'data' && stream % 2 === 0);
        if (!isReply) ws.send(bytesOf(line));
        if (type === 'notice' && jsonIn<{ topic: string }>(payload).topic === 'ready')
          await until(
            async () =>
              (await server.services.tenants.connections.list(facts.tenant.id)).some(
                ({ status }) => status === 'connected',
              ),
            'the agent is connected',
          );
        continue;
      }
      if (type === 'request') await operation(index, recorded);
      if (type === 'response') {
        const { payload: head } = await present.take('response', { stream });
        const { payload: body } = await present.take('data', { stream });
        const welcome = jsonIn<Welcome>(body);
        sameForm(jsonIn(head), jsonIn(payload), 'the head of the welcome');
        sameForm(welcome, jsonIn(bodyAfter(lines, index)), 'the welcome');
        expect(welcome.protocol).to.equal(facts.protocol);
        sid = welcome.sid;
        const { token } = jsonIn<{ token: string }>(head);
        await verifyAnnouncement({ token, json: Buffer.from(body).toString() }, factsIn(transcript, sid), {
          topic: WELCOME,
          keyOf: among(await links.keys.publicKeys()),
          clock,
          seen,
        });
      }
      if (type === 'notice') {
        if (!isToldNews) await changeWhatAgentsAreTold(server, facts.tenant.id);
        isToldNews = true;
        sameForm(jsonIn((await present.take('notice')).payload), jsonIn(payload), 'a notice');
      }
      if (type === 'pong') expect((await present.take('pong')).stream).to.equal(stream);
      if (type === 'goAway') {
        const closing = links.hub.close();
        sameForm(jsonIn((await present.take('goAway')).payload), jsonIn(payload), 'the announcement of the end');
        await closing;
      }
    }
    expect(answered).to.equal(replies.size);
    expect(await closed).to.equal(1001);
    expect(server.logged.filter(({ level }) => Number(level) >= 40)).to.deep.equal([]);
  } finally {
    await server.stop();
  }
}

/** The recorded control plane, byte for byte, against the real agent. */
async function replayControlPlane(transcript: Transcript): Promise<void> {
  const { facts, lines } = transcript;
  const clock = fakeClock(facts.at);
  const timers = fakeTimers();
  const opened = Promise.withResolvers<{ readonly ws: WebSocket; readonly request: IncomingMessage }>();
  let sessions = 0;
  const door = await openDoor((ws, request) => {
    sessions += 1;
    opened.resolve({ ws, request });
  });
  const agent = await agentOf(facts, { port: door.port, timers });
  try {
    const { ws, request } = await opened.promise;
    const present = framesOf(ws);
    const token = (request.headers.authorization ?? '').replace('Bearer ', '');
    sameForm(token, facts.connectToken, 'the token of the connection');
    expect(request.headers['sec-websocket-protocol']).to.equal(LINK.subprotocol);
    let sid = '';
    const jtis = new Map<number, string>();
    for (const [index, line] of lines.entries()) {
      const { type, stream, payload } = frameOf(line);
      if (line.from === 'controlPlane') {
        if (type === 'response') sid = jsonIn<Welcome>(bodyAfter(lines, index)).sid;
        if (type === 'request') {
          const { token: signed } = jsonIn<{ token: string }>(payload);
          jtis.set(stream, claimsOf(signed).jti ?? '');
          const { kid = '' } = decodeProtectedHeader(signed);
          const { identity } = agent.agent;
          await until(async () => (await identity.accepts(kid)) !== undefined, 'the agent has learned the key');
        }
        ws.send(bytesOf(line));
        continue;
      }
      if (type === 'request') {
        sameForm(jsonIn((await present.take('request', { stream })).payload), jsonIn(payload), 'the head of the hello');
        const hello = jsonIn((await present.take('data', { stream })).payload);
        sameForm(hello, jsonIn(bodyAfter(lines, index)), 'the hello');
      }
      if (type === 'notice') {
        const { topic, value } = jsonIn<{ topic: string; value: unknown }>(payload);
        if (topic === 'outbox') agent.agent.link.notice(topic, value);
        expect(Buffer.from((await present.take('notice')).payload).toString()).to.equal(
          Buffer.from(payload).toString(),
        );
      }
      if (type === 'response') {
        const head = jsonIn<{ token: string }>((await present.take('response', { stream })).payload);
        const body = Buffer.from((await present.take('data', { stream })).payload);
        sameForm(head, jsonIn(payload), 'the head of a reply');
        const recorded = jsonIn<WireReply>(bodyAfter(lines, index));
        const reply = jsonIn<WireReply>(body);
        sameForm(reply, recorded, 'a reply');
        if (!recorded.ok) expect(reply).to.deep.equal(recorded);
        await verifyReply({ token: head.token, body, jti: jtis.get(stream) ?? '' }, factsIn(transcript, sid), {
          keyOf: among([facts.agentKey.publicJwk]),
          clock,
        });
      }
      if (type === 'ping') {
        timers.advance(LINK.heartbeatMs);
        const ping = await present.take('ping');
        expect(ping.stream).to.equal(stream);
        sameForm(jsonIn(ping.payload), jsonIn(payload), 'the report of the heartbeat');
      }
      if (type === 'pong') expect((await present.take('pong')).stream).to.equal(stream);
    }
    // The agent opens another connection before this one ends.
    await until(() => {
      timers.advance(1_000);
      return Promise.resolve(sessions > 1);
    }, 'the agent connects again');
    expect(ws.readyState, 'the former one is open').to.equal(1);
    expect(agent.logged.filter(({ level }) => Number(level) >= 40)).to.deep.equal([]);
  } finally {
    await door.close();
    await agent.end();
  }
}
