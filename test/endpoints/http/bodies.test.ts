import { expect } from 'chai';
import { Readable } from 'node:stream';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { s } from '../../../data-plane-agent/base/schema.js';
import { endpoint } from '../../../server/http/endpoint.js';
import type { FrameworkError } from '../../support/http.js';
import { speak } from '../../support/http.js';
import { littleApp, type LittleApp } from '../../support/little-app.js';

const Line = s.object({ amount: s.amount() });
const Body = s.object({
  name: s.text(),
  note: s.optional(s.text()),
  extra: s.optional(s.free()),
  lines: s.optional(s.list(Line, 1_000_000)),
});

const endpoints = {
  create: endpoint('POST /things', {
    summary: 'Create',
    needs: 'signed_in',
    body: Body,
    status: 201,
    returns: s.object({ name: s.text() }),
    fails: [],
    run: ({ body }) => Promise.resolve({ name: body.name }),
  }),
  search: endpoint('POST /things/search', {
    summary: 'Search',
    needs: 'signed_in',
    body: s.object({ q: s.optional(s.text()) }),
    returns: s.object({ q: s.nullable(s.text()) }),
    fails: [],
    run: ({ body }) => Promise.resolve({ q: body.q ?? null }),
  }),
  ask: endpoint('POST /auth/ask', {
    summary: 'Ask',
    needs: 'public',
    body: s.object({ q: s.optional(s.text()) }),
    returns: s.object({ q: s.nullable(s.text()) }),
    fails: [],
    run: ({ body }) => Promise.resolve({ q: body.q ?? null }),
  }),
  lock: endpoint('POST /things/lock', {
    summary: 'Lock',
    needs: 'signed_in',
    returns: s.object({ ok: s.flag() }),
    fails: [],
    run: () => Promise.resolve({ ok: true }),
  }),
};

describe('request bodies', () => {
  let app: LittleApp;
  before(async () => {
    app = await littleApp(endpoints);
  });
  after(() => app.stop());

  const post = (body: string | Uint8Array | undefined, headers: Record<string, string> = {}, path = '/things') =>
    app.client.raw<FrameworkError>(`/api/v1${path}`, {
      method: 'POST',
      ...(body === undefined ? {} : { body }),
      headers: { Authorization: 'Bearer good', 'Content-Type': 'application/json', ...headers },
    });

  it('are JSON, plain or compressed with gzip, deflate or br', async () => {
    const json = JSON.stringify({ name: 'Zoë' });
    expect(await post(json)).to.deep.include({ status: 201, body: { name: 'Zoë' } });
    for (const [encoding, pack] of [
      ['gzip', gzipSync],
      ['GZip', gzipSync],
      ['deflate', deflateSync],
      ['br', brotliCompressSync],
    ] as const) {
      expect((await post(new Uint8Array(pack(json)), { 'Content-Encoding': encoding })).status, encoding).to.equal(201);
    }
    expect((await post(json, { 'Content-Type': 'Application/JSON; charset=UTF-8' })).status).to.equal(201);
  });

  it('of another content type or encoding are 415', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json; charset=utf-16',
      'application/xml',
      '',
    ]) {
      const answer = await post('{"name":"x"}', { 'Content-Type': type });
      expect(answer.status, type).to.equal(415);
      expect(answer.body).to.deep.equal({
        statusCode: 415,
        message: 'The body must be application/json',
        error: 'Unsupported Media Type',
      });
    }
    expect((await post('{}', { 'Content-Encoding': 'zstd' })).body).to.include({
      statusCode: 415,
      message: 'The body must be compressed with gzip, deflate or br, or uncompressed',
    });
  });

  it('that are not JSON are 400, without repeating their content', async () => {
    for (const text of ['{"name":"s3cret', 'name=x', '{"name":"x"}{}', "{'name':1}", '[1,]', '\u0000']) {
      const answer = await post(text);
      expect(answer.body, text).to.deep.equal({
        statusCode: 400,
        message: 'The body is not valid JSON',
        error: 'Bad Request',
      });
    }
    expect((await post('not gzip', { 'Content-Encoding': 'gzip' })).body).to.include({
      statusCode: 400,
      message: 'The body cannot be decompressed',
    });
    expect(
      (await post(new Uint8Array(gzipSync('{"name":"x"}').subarray(0, 12)), { 'Content-Encoding': 'gzip' })).status,
    ).to.equal(400);
  });

  it('that are not an object are 400', async () => {
    for (const text of ['[]', '5', '"x"', 'null', 'true']) {
      expect((await post(text)).body, text).to.deep.equal({
        statusCode: 400,
        message: ['body must be an object'],
        error: 'Bad Request',
      });
      expect((await post(text, {}, '/things/lock')).status, text).to.equal(400);
    }
  });

  it('have one message for each bad field, beginning with its path', async () => {
    const { status, body } = await post(
      JSON.stringify({ note: 5, lines: [{ amount: 1 }, {}, { amount: -1, vat: 1 }], colour: 'red' }),
    );
    expect(status).to.equal(400);
    expect(body.error).to.equal('Bad Request');
    expect(body.message).to.have.members([
      'name is required',
      'note must be a string',
      'lines[1].amount is required',
      'lines[2].amount must be >= 0',
      'lines[2].vat is not a known field',
      'colour is not a known field',
    ]);
  });

  it('that are empty report required fields as missing, and are accepted without any', async () => {
    expect((await post(undefined)).body.message).to.deep.equal(['name is required']);
    expect((await post('')).body.message).to.deep.equal(['name is required']);
    expect(await post(undefined, {}, '/things/search')).to.deep.include({ status: 200, body: { q: null } });
    expect((await post(undefined, { 'Content-Type': 'text/plain' }, '/things/lock')).status).to.equal(200);
  });

  it('have no fields if none are documented', async () => {
    expect((await post('{}', {}, '/things/lock')).status).to.equal(200);
    expect((await post('{"force":true,"by":1}', {}, '/things/lock')).body).to.deep.equal({
      statusCode: 400,
      message: ['force is not a known field', 'by is not a known field'],
      error: 'Bad Request',
    });
  });

  it('refuse __proto__ and constructor as unknown fields', async () => {
    expect((await post('{"name":"x","__proto__":{"admin":true}}')).body.message).to.deep.equal([
      '__proto__ is not a known field',
    ]);
    expect((await post('{"name":"x","constructor":{"prototype":{}}}')).body.message).to.deep.equal([
      'constructor is not a known field',
    ]);
    expect((await post('{"name":"x","lines":[{"amount":1,"__proto__":1}]}')).body.message).to.deep.equal([
      'lines[0].__proto__ is not a known field',
    ]);
    expect((await post('{"__proto__":1}', {}, '/things/lock')).body.message).to.deep.equal([
      '__proto__ is not a known field',
    ]);
    expect(({} as Record<string, unknown>)['admin']).to.equal(undefined);
  });

  it('nested deeper than 32 levels are 400 that names the field, before they are parsed', async () => {
    const deep = (levels: number) => `{"name":"x","extra":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}`;
    for (const levels of [31, 50_000, 8_000_000]) {
      const answer = await post(deep(levels));
      expect(answer.status, `${levels}`).to.equal(400);
      expect(answer.body.message).to.deep.equal(['extra must have at most 32 levels']);
    }
    expect((await post(deep(4))).status).to.equal(201);
    expect((await post('['.repeat(50_000))).status).to.equal(400);
  });

  it('may contain brackets within texts', async () => {
    expect(await post(JSON.stringify({ name: `${'['.repeat(400)}\\"${'{'.repeat(40)}` }))).to.have.property(
      'status',
      201,
    );
  });

  it('of more than a million values are 400', async () => {
    const answer = await post(`{"name":"x","lines":[${'0,'.repeat(1_000_000)}0]}`);
    expect(answer.body.message).to.deep.equal(['lines must have at most 1000000 values']);
  });

  it('over 16 MiB are 413, with and without a declared length, and the connection remains usable', async () => {
    const much = `{"name":"${'x'.repeat(16 * 1024 * 1024)}"}`;
    const answer = await post(much);
    expect(answer.body).to.deep.equal({
      statusCode: 413,
      message: 'The body must be at most 16777216 bytes, uncompressed',
      error: 'Payload Too Large',
    });
    expect(
      (
        await app.client.raw('/api/v1/things', {
          method: 'POST',
          body: Readable.from([much]),
          headers: { Authorization: 'Bearer good', 'Content-Type': 'application/json' },
        })
      ).status,
    ).to.equal(413);
    expect((await post('{"name":"x"}')).status).to.equal(201);
  });

  it('of public endpoints are 413 over 64 KiB, compressed or not', async () => {
    const ask = (json: string, headers: Record<string, string> = {}) =>
      post(
        headers['Content-Encoding'] ? new Uint8Array(gzipSync(json)) : json,
        { Authorization: '', ...headers },
        '/auth/ask',
      );
    const of = (bytes: number) => `{"q":"x"${' '.repeat(bytes - 9)}}`;
    expect((await ask(of(64 * 1024))).status).to.equal(200);
    for (const headers of [{}, { 'Content-Encoding': 'gzip' }]) {
      expect((await ask(of(64 * 1024 + 1), headers)).body).to.deep.equal({
        statusCode: 413,
        message: 'The body must be at most 65536 bytes, uncompressed',
        error: 'Payload Too Large',
      });
    }
  });

  it('of more values or keys than their endpoint accepts are 400', async () => {
    expect((await post(`{"q":[${'0,'.repeat(20_000)}0]}`, {}, '/things/search')).body.message).to.deep.equal([
      'q must have at most 20000 values',
    ]);
    expect(
      (await post(`{"extra":{${Array.from({ length: 10_001 }, (_, i) => `"k${i}":1`).join(',')}}}`)).body.message,
    ).to.deep.equal(['extra must have at most 10000 keys']);
    expect((await post(`{${Array.from({ length: 900_000 }, (_, i) => `"k${i}":1`).join(',')}}`)).status).to.equal(400);
    for (const text of [`{"${'k'.repeat(100_000)}":1}`, `{"name":"x"${' '.repeat(100_000)},"note":"y"}`])
      expect((await post(text)).status).to.equal(400);
  });

  it('are measured after decompression, so a compression bomb is 413', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20), { level: 9 });
    expect(bomb.length).to.be.lessThan(300_000);
    expect((await post(new Uint8Array(bomb), { 'Content-Encoding': 'gzip' })).status).to.equal(413);
  });

  it('are requested only after the caller is authorised', async () => {
    const head = (token: string) =>
      `POST /api/v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 12\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`;
    expect(await speak(app.client.origin, `${head('good')}{"name":"x"}`)).to.match(
      /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 201 /,
    );
    expect(await speak(app.client.origin, `${head('bad')}{"name":"x"}`)).to.match(/^HTTP\/1.1 401 /);
  });
});
