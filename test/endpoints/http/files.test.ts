import { expect } from 'chai';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { fail } from '../../../data-plane-agent/base/failures.js';
import { s } from '../../../data-plane-agent/base/schema.js';
import { endpoint } from '../../../server/http/endpoint.js';
import { attachment, fileOf, type FileText } from '../../../server/http/reply.js';
import { littleApp, type LittleApp } from '../../support/little-app.js';

const MIB = 1024 * 1024;
let file: () => FileText = () => '';
let kept: unknown[] = [];

const File = fileOf('text/csv', 'Some rows.');
const run = () => Promise.resolve(attachment(file(), { fileName: 'rows.csv' }));
const endpoints = {
  fetchFile: endpoint('GET /file', {
    summary: 'Fetch',
    needs: 'public',
    produces: 'text/csv',
    returns: File,
    fails: [],
    run,
  }),
  askForFile: endpoint('POST /file', {
    summary: 'Ask',
    needs: 'signed_in',
    body: s.object({ rows: s.optional(s.integer()) }),
    produces: 'text/csv',
    idempotencyKey: 'none',
    returns: File,
    calls: ['listContracts'],
    fails: [],
    run: ({ plane }) => (plane ? run() : Promise.reject(new Error('there is no plane'))),
  }),
};

describe('files', () => {
  let app: LittleApp;
  before(async () => {
    app = await littleApp(endpoints);
  });
  after(() => app.stop());
  beforeEach(() => {
    kept = [];
  });

  it('are sent whole, with their type, their name and the headers of every answer', async () => {
    file = () => '\uFEFFa,b\r\n';
    const answer = await fetch(`${app.client.base}/file`);
    expect(Buffer.from(await answer.arrayBuffer()).toString('hex')).to.equal('efbbbf612c620d0a');
    expect(Object.fromEntries(answer.headers)).to.include({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="rows.csv"',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-length': '8',
    });
  });

  it('are sent in chunks, including empty ones', async () => {
    file = () => pieces(['a,b\r\n', '中,文\r\n', '']);
    const answer = await fetch(`${app.client.base}/file`);
    expect(await answer.text()).to.equal('a,b\r\n中,文\r\n');
    expect(answer.headers.get('transfer-encoding')).to.equal('chunked');
    file = () => pieces([]);
    expect(await app.client.get('/file')).to.deep.include({ status: 200, text: '' });
  });

  it('whose first chunk fails are answered like any failure, without a file name', async () => {
    file = () => failing(0, fail('NOT_FOUND', {}));
    const refused = await app.client.get('/file');
    expect(refused).to.deep.include({
      status: 404,
      body: { statusCode: 404, message: 'Not Found', error: 'Not Found' },
    });
    expect(refused.headers.get('content-disposition')).to.equal(null);
    expect(refused.headers.get('content-type')).to.equal('application/json; charset=utf-8');
  });

  it('that fail midway cut the transfer off, and are logged', async () => {
    file = () => failing(3, new Error('the disk is missing'));
    const answer = await fetch(`${app.client.base}/file`);
    expect(answer.status).to.equal(200);
    expect(
      await answer.text().then(
        () => 'whole',
        () => 'broken',
      ),
    ).to.equal('broken');
    const line = app.logged.find(({ msg }) => msg === 'response aborted by an error');
    expect(line).to.deep.include({ level: 50, route: '/file' });
    expect(JSON.stringify(line)).to.contain('the disk is missing');
  });

  it('are not generated further when the client disconnects', async () => {
    const made = endless();
    file = () => made.pieces;
    const answer = await read(`${app.client.base}/file`);
    await once(answer, 'data');
    answer.destroy();
    await made.stopped;
    expect(kept.length).to.be.greaterThan(0);
  });

  it('are generated no faster than the client reads', async () => {
    const made = endless();
    file = () => made.pieces;
    const answer = await read(`${app.client.base}/file`);
    answer.pause();
    // Chunks that fit into the socket buffers are generated at once; when none follow for some time, the buffers are
    // full.
    let before = -1;
    while (before !== kept.length) {
      before = kept.length;
      for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
    }
    expect(kept.length).to.be.greaterThan(0).and.lessThan(64);
    answer.destroy();
    await made.stopped;
  });

  it('are not generated for a HEAD request', async () => {
    const made = endless();
    file = () => made.pieces;
    const answer = await fetch(`${app.client.base}/file`, { method: 'HEAD' });
    expect([
      answer.status,
      answer.headers.get('content-type'),
      answer.headers.get('content-disposition'),
    ]).to.deep.equal([200, 'text/csv; charset=utf-8', 'attachment; filename="rows.csv"']);
    expect(kept).to.deep.equal([]);
  });

  it('ignore an idempotency key for a read, even a malformed one', async () => {
    file = () => 'a\r\n';
    for (const key of ['a-key-of-mine', 'x']) {
      const answer = await app.client.post(
        '/file',
        {},
        { token: 'good', headers: { 'Idempotency-Key': key, 'If-Match': 'nonsense' } },
      );
      expect(answer).to.deep.include({ status: 200, text: 'a\r\n' });
    }
    expect(app.calls.at(-1)).to.deep.include({ idempotency: null, ifVersion: null });
  });
});

async function* pieces(all: readonly string[]): AsyncGenerator<string> {
  yield* all;
}

async function* failing(after: number, error: unknown): AsyncGenerator<string> {
  for (let i = 0; i < after; i++) yield 'row\r\n';
  await new Promise(setImmediate);
  throw error;
}

/** An endless stream of 1 MiB chunks, and the time when it was cancelled. */
function endless(): { readonly pieces: AsyncGenerator<string>; readonly stopped: Promise<void> } {
  let stop: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => (stop = resolve));
  async function* make(): AsyncGenerator<string> {
    try {
      for (;;) {
        kept.push(1);
        yield 'x'.repeat(MIB);
      }
    } finally {
      stop();
    }
  }
  return { pieces: make(), stopped };
}

const read = (url: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => get(url, resolve).on('error', reject));
