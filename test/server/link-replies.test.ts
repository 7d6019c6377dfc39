import { expect } from 'chai';
import { signReply, type RequestFacts } from '../../data-plane-agent/base/link/envelope.js';
import { newLinkKey, signerOf, verifierOf, type LinkKeyPair } from '../../data-plane-agent/base/link/keys.js';
import { TransportError, type WireReply } from '../../data-plane-agent/plane/contract/wire.js';
import { transportOver } from '../../server/data-planes/link/transport.js';
import { fakeClock } from '../support/clock.js';
import { aCall } from '../support/plane.js';

const FACTS: RequestFacts = {
  controlPlane: 'https://contracts.example',
  connectionId: '018f0000-0000-7000-8000-000000000001',
  tenantId: '018f0000-0000-7000-8000-000000000002',
  session: '018f0000-0000-7000-8000-000000000003',
};
const jtiIn = (token: string): string =>
  (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { jti: string }).jti;
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

describe('the reply of an agent', () => {
  const clock = fakeClock();
  let control: LinkKeyPair;
  let agent: LinkKeyPair;

  before(async () => {
    [control, agent] = [await newLinkKey(), await newLinkKey()];
  });

  /** What the control plane makes of a reply with this body, signed by the agent. */
  const received = (text: string, { sent = text } = {}): Promise<WireReply> => {
    const transport = transportOver(
      {
        protocol: 1,
        facts: FACTS,
        send: ({ head }) => {
          const by = { signer: signerOf(agent), clock };
          const token = signReply(FACTS, { jti: jtiIn(String(head['token'])), body: Buffer.from(text), ...by });
          return Promise.resolve({ head: { token }, body: Buffer.from(sent) });
        },
      },
      { signers: () => Promise.resolve([signerOf(control)]), keyOf: () => verifierOf(agent.publicJwk), clock },
    );
    return transport(
      { protocol: 1, name: 'getContract', call: aCall(), input: {} },
      { signal: new AbortController().signal },
    );
  };
  const faultOf = async (text: string, options?: { readonly sent: string }): Promise<TransportError> => {
    const error: unknown = await received(text, options).catch((thrown: unknown) => thrown);
    if (!(error instanceof TransportError)) throw new Error(`it was accepted: ${text.slice(0, 50)}`);
    return error;
  };

  it('is its output or its failure, short or long', async () => {
    for (const output of ['é 大', 'x'.repeat(100_000)]) {
      const reply = { ok: true, output, replayed: false };
      expect(await received(JSON.stringify(reply))).to.deep.equal(reply);
    }
    const failure = { ok: false, code: 'NOT_FOUND', details: {}, replayed: true };
    expect(await received(JSON.stringify(failure))).to.deep.equal(failure);
  });

  it('is not accepted with another body than the signed one', async () => {
    const error = await faultOf('{"ok":true,"output":1,"replayed":false}', {
      sent: '{"ok":true,"output":2,"replayed":false}',
    });
    expect(error).to.include({ nothingRan: false });
    expect(error.message).to.contain('the body is not the signed one');
  });

  it('is nothing else', async () => {
    for (const text of ['', '{', 'null', '[]', '{}', '"ok"', '1', '{"ok":true,}', `{"ok":true${' '.repeat(200_000)}`]) {
      const error = await faultOf(text);
      expect(error.message, text.slice(0, 20)).to.equal('the reply is not one of an operation');
      expect(error.nothingRan).to.equal(false);
    }
  });

  it('has failures whose details are not deeper than anything that is answered', async () => {
    const failing = (details: string): string =>
      `{"ok":false,"code":"NOT_FOUND","details":${details},"replayed":false}`;
    expect(await received(failing(nested(60)))).to.include({ ok: false });
    for (const details of [nested(64), nested(30_000), nested(100_000)])
      expect((await faultOf(failing(details))).message).to.equal('the reply is not one of an operation');
    // The last of two fields of one name counts.
    const twice = failing(nested(30_000)).replace('{"ok":false', '{"ok":true,"ok":false');
    expect((await faultOf(twice)).message).to.equal('the reply is not one of an operation');
  });
});
