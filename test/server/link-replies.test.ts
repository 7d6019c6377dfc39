import { expect } from 'chai';
import { signReply, type RequestFacts } from '../../data-plane-agent/base/link/envelope.js';
import { newLinkKey, signerOf, verifierOf, type LinkKeyPair } from '../../data-plane-agent/base/link/keys.js';
import { receivedJson } from '../../data-plane-agent/plane/contract/received-json.js';
import { TransportError, type WireReply } from '../../data-plane-agent/plane/contract/wire.js';
import { KnownReplies } from '../../server/data-planes/link/known-replies.js';
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
const bytesOf = (text: string | Buffer): Buffer => (typeof text === 'string' ? Buffer.from(text) : text);
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

interface Received {
  readonly sent?: string | Buffer;
  readonly name?: string;
  readonly known?: KnownReplies;
  readonly tenantId?: string;
}

describe('the reply of an agent', () => {
  const clock = fakeClock();
  let control: LinkKeyPair;
  let agent: LinkKeyPair;

  before(async () => {
    [control, agent] = [await newLinkKey(), await newLinkKey()];
  });

  /** What the control plane makes of a reply with this body, signed by the agent. */
  const received = (
    text: string | Buffer,
    { sent = text, name = 'getContract', known, tenantId = FACTS.tenantId }: Received = {},
  ): Promise<WireReply> => {
    const facts = { ...FACTS, tenantId };
    const transport = transportOver(
      {
        protocol: 1,
        facts,
        send: ({ head }) => {
          const by = { signer: signerOf(agent), clock };
          const token = signReply(facts, { jti: jtiIn(String(head['token'])), body: bytesOf(text), ...by });
          return Promise.resolve({ head: { token }, body: bytesOf(sent) });
        },
      },
      { signers: () => Promise.resolve([signerOf(control)]), keyOf: () => verifierOf(agent.publicJwk), clock, known },
    );
    return transport({ protocol: 1, name, call: aCall(), input: {} }, { signal: new AbortController().signal });
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

  it('is the same object from the second time on, if its bytes are the same', async () => {
    const known = new KnownReplies((name) => name === 'getContract');
    const text = '{"ok":true,"output":{"list":[{"a":1}]},"replayed":false}';
    const [first, second, third] = [
      await received(text, { known }),
      await received(text, { known }),
      await received(text, { known }),
    ];
    expect([first === second, second === third]).to.deep.equal([false, true]);
    expect([first, third]).to.deep.equal([JSON.parse(text), JSON.parse(text)]);
    const { output } = third as { output: { list: { a: number }[] } };
    expect(() => output.list.push({ a: 2 })).to.throw(TypeError);
    expect(() => Object.assign(output.list[0] ?? {}, { a: 2 })).to.throw(TypeError);
    const other = text.replace('1', '2');
    expect(await received(other, { known })).to.deep.equal(JSON.parse(other));
  });

  it('is not shared between organisations and operations, nor kept of an operation that is not asked again', async () => {
    const known = new KnownReplies((name) => name !== 'createContract');
    const text = '{"ok":true,"output":{"a":1},"replayed":false}';
    const twice = async (options: Received) => {
      await received(text, { known, ...options });
      return received(text, { known, ...options });
    };
    const kept = await twice({});
    expect(await received(text, { known })).to.equal(kept);
    for (const options of [{ tenantId: '018f0000-0000-7000-8000-000000000009' }, { name: 'listContracts' }])
      expect(await twice(options)).to.not.equal(kept);
    expect(await twice({ name: 'createContract' })).to.not.equal(
      await received(text, { name: 'createContract', known }),
    );
    const failure = '{"ok":false,"code":"NOT_FOUND","details":{},"replayed":false}';
    for (let n = 0; n < 2; n++) await received(failure, { known });
    expect(await received(failure, { known })).to.not.equal(await received(failure, { known }));
  });

  it('has the JSON that was sent, if it is sent as agents send it', async () => {
    const jsonOf = async (text: string, options?: Received): Promise<string | undefined> => {
      const reply = await received(text, options);
      if (!reply.ok) throw new Error('it is a failure');
      const json = receivedJson(reply.output as object);
      return json && Buffer.from(json).toString();
    };
    const long = JSON.stringify({ text: 'é 大 "},\\"replayed\\":false}"'.repeat(10_000) });
    for (const output of ['{}', '{"a":{"b":[1]}}', '{"é":"大 \\u0041"}', '{ "a" : 1 }', long])
      for (const replayed of [true, false])
        expect(await jsonOf(`{"ok":true,"output":${output},"replayed":${replayed}}`)).to.equal(output);
    const others = [
      '{"ok":true,"replayed":false,"output":{"a":1}}',
      '{"ok":true,"output":[1],"replayed":false}',
      '{"ok":true,"output":{"a":1} ,"replayed":false}',
      '{"ok":true,"output": {"a":1},"replayed":false}',
      '{"ok":true,"output":{"a":1},"more":{},"replayed":false}',
      '{"ok":true,"output":{"a":2},"output":{"a":1},"replayed":false}',
    ];
    for (const text of others) {
      expect(await received(text), text).to.deep.equal(JSON.parse(text));
      expect(await jsonOf(text), text).to.equal(undefined);
    }
  });

  it('has no JSON of other bytes than UTF-8, nor of what is kept', async () => {
    const text = '{"ok":true,"output":{"a":"?"},"replayed":false}';
    const bytes = Buffer.from(text.replace('?', '\u00ff'), 'latin1');
    const reply = (await received(bytes)) as { output: { a: string } };
    expect(reply.output).to.deep.equal({ a: '\ufffd' });
    expect(receivedJson(reply.output)).to.equal(undefined);
    const known = new KnownReplies(() => true);
    const [first, second] = [await received(text, { known }), await received(text, { known })] as unknown as {
      output: object;
    }[];
    expect(Buffer.from(receivedJson(first?.output ?? {}) ?? []).toString()).to.equal('{"a":"?"}');
    expect(receivedJson(second?.output ?? {})).to.equal(undefined);
  });

  it('is still refused if its bytes are known, but signed for another request', async () => {
    const known = new KnownReplies(() => true);
    const text = '{"ok":true,"output":{"a":1},"replayed":false}';
    for (let n = 0; n < 3; n++) await received(text, { known });
    const refused: unknown = await received(text, { known, sent: text.replace('1', '2') }).catch(
      (error: unknown) => error,
    );
    expect(refused).to.be.instanceOf(TransportError);
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
