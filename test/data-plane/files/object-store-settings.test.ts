import { expect } from 'chai';
import { createServer } from 'node:http';
import { systemClock } from '../../../data-plane-agent/base/clock.js';
import type { StoreFault } from '../../../data-plane-agent/plane/files/objects/object-store.js';
import { createS3Store } from '../../../data-plane-agent/plane/files/objects/s3-store.js';
import { sharedMinio, type S3Server } from '../../support/minio.js';
import { sharedRgw } from '../../support/rgw.js';
import { skip } from '../../support/skip.js';
import { addressOf, bytesOf, listening, putObject } from '../../support/stores.js';

describe('the probe of an S3 store with wrong settings', () => {
  const undo: (() => unknown)[] = [];
  afterEach(async () => {
    for (const step of undo.splice(0).toReversed()) await step();
  });
  const storeAt = (url: string) => {
    const address = addressOf(url);
    if (address.provider !== 's3') throw new Error('expected an S3 address');
    const store = createS3Store({ address, clock: systemClock });
    undo.push(() => store.close());
    return store;
  };

  for (const [kind, shared] of [
    ['minio', sharedMinio],
    ['rgw', sharedRgw],
  ] as const) {
    describe(`on ${kind}`, () => {
      let server: S3Server | undefined;
      before(`start ${kind}`, async function () {
        server = await shared().catch((error: unknown) =>
          skip(this, error instanceof Error ? error.message : String(error)),
        );
      });
      const urlWith = (accessKey: string, secretKey: string): string => {
        if (!server) throw new Error('expected a running MinIO');
        return server.url(`never-${process.pid}`).replace(/\/\/[^@]*@/, `//${accessKey}:${secretKey}@`);
      };

      it('names an unknown access key, and no bucket', async () => {
        const store = storeAt(urlWith('nobody', 'planted-secret'));
        expect(await store.probe()).to.deep.equal([
          {
            step: 'credentials',
            problem: 'the object store does not know the access key nobody (InvalidAccessKeyId)',
            fix: 'correct the access key in OBJECT_STORE_URL, before the colon',
          },
        ]);
        expect(await store.probe({ makes: false })).to.have.length(1);
        expect(
          await putObject(store, 'uploads/tenant/file', bytesOf('bytes')).catch((error: unknown) => error),
        ).to.include({ code: 'denied' });
      });

      it('names a wrong secret key, and reveals none', async () => {
        const accessKey = server?.accessKey ?? '';
        const [fault, ...more] = await storeAt(urlWith(accessKey, 'planted-secret')).probe();
        expect(fault).to.include({
          step: 'credentials',
          problem: `the secret key does not match the access key ${accessKey} (SignatureDoesNotMatch)`,
        });
        expect(fault?.fix).to.match(/^correct the secret key in OBJECT_STORE_URL, .*percent-encoded/);
        expect(more).to.deep.equal([]);
        expect(JSON.stringify(fault)).not.to.contain('planted-secret');
      });
    });
  }

  /**
   * A server that knows the caller's key, but refuses with errors that the real servers here cannot be made to return.
   */
  const refusing = async (
    status: number,
    error: string,
    { date = new Date() }: { readonly date?: Date } = {},
  ): Promise<readonly StoreFault[]> => {
    const server = createServer((question, answer) => {
      question.resume();
      const said = question.headers.authorization === undefined ? '<Code>AccessDenied</Code>' : error;
      answer
        .writeHead(status, { 'Content-Type': 'application/xml', Date: date.toUTCString() })
        .end(`<?xml version="1.0"?><Error>${said}</Error>`);
    });
    return storeAt(`s3://key:secret@${new URL(await listening(server, undo)).host}/book?tls=false`).probe();
  };

  it('names the region, and the right one if the server returns it', async () => {
    const said = (region: string) =>
      `<Code>AuthorizationHeaderMalformed</Code><Message>The authorization header is malformed</Message>${region}`;
    expect(await refusing(400, said('<Region>eu-west-1</Region>'))).to.deep.equal([
      {
        step: 'region',
        problem: 'the object store is not in the region us-east-1 (AuthorizationHeaderMalformed)',
        fix: 'set region in OBJECT_STORE_URL to eu-west-1',
      },
    ]);
    expect((await refusing(400, said('')))[0]?.fix).to.equal('set region in OBJECT_STORE_URL to its region');
    expect(
      (await refusing(400, said('<Region>eu-1 \u001b[2J and much more</Region>')))[0]?.fix,
      'without an invalid region',
    ).to.equal('set region in OBJECT_STORE_URL to its region');
  });

  it('names the host of a bucket at another endpoint', async () => {
    const [fault, ...more] = await refusing(
      301,
      '<Code>PermanentRedirect</Code><Endpoint>book.s3.eu-west-1.amazonaws.com</Endpoint>',
    );
    expect(fault).to.deep.equal({
      step: 'host',
      problem: 'the bucket book is not available at 127.0.0.1 (PermanentRedirect)',
      fix: 'set host and region in OBJECT_STORE_URL to those of the bucket, which the object store says is at book.s3.eu-west-1.amazonaws.com',
    });
    expect(more).to.deep.equal([]);
  });

  it('names the clock, once', async () => {
    const skewed = '<Code>RequestTimeTooSkewed</Code>';
    expect(await refusing(403, skewed)).to.deep.equal([
      {
        step: 'clock',
        problem: 'the clock of the object store differs too much from ours (RequestTimeTooSkewed)',
        fix: 'synchronize both clocks (NTP): signed links depend on the time',
        endsProbe: true,
      },
    ]);
    const reported = await refusing(403, skewed, { date: new Date(Date.now() - 3_600_000) });
    expect(reported.map(({ step, endsProbe }) => [step, endsProbe])).to.deep.equal([['clock', true]]);
    expect(reported[0]?.problem).to.match(/ is 3[56]\d\d s behind ours$/);
  });
});
