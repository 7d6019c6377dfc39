import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { verify } from '@node-rs/argon2';
import SqliteConnection, { type Statement as Prepared } from 'better-sqlite3';
import pg from 'pg';
import type { Row } from './raw-answers.js';
import { rawExport, type ExportSetting } from './raw-export.js';
import { create, get, list, overdue, receipt, type Handler, type Statement } from './raw-handlers.js';

/** The settings that the benchmark passes to the raw program, in `RAW_SETTING`. */
export interface RawOptions extends ExportSetting {
  /** A file, or `postgres://…`. */
  readonly database: string;
  readonly totals: { readonly contracts: number; readonly overdue: number };
  readonly lifecycle: { readonly templateId: string; readonly stageCode: string; readonly stageName: string };
  readonly passwordHash: string;
}

type Run = (handler: Handler, input: Parameters<Handler>[0], options: { readonly writes: boolean }) => unknown;

/**
 * The baseline: plain `node:http`, prepared statements and the same response bytes, without authentication, validation,
 * permissions, audit and counts. Writes are one durable transaction per request.
 */
export function startRaw(options: RawOptions, port: number): void {
  const run = options.database.startsWith('postgres') ? onPostgres(options) : onSqlite(options);
  const sheet = options.database.startsWith('postgres')
    ? undefined
    : rawExport(sqlite(options.database), sqlite(options.database), options);
  const routes: readonly (readonly [RegExp, Handler, { writes: boolean; status: number }])[] = [
    [/^GET \/api\/v1\/contracts$/, list(options.totals), { writes: false, status: 200 }],
    [/^GET \/api\/v1\/contracts\/(.+)$/, get, { writes: false, status: 200 }],
    [/^GET \/api\/v1\/payments$/, overdue(options.totals), { writes: false, status: 200 }],
    [/^POST \/api\/v1\/contracts$/, create(options.lifecycle), { writes: true, status: 201 }],
    [/^PATCH \/api\/v1\/payments\/(.+)\/receipt$/, receipt, { writes: true, status: 200 }],
  ];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://raw');
    if (url.pathname === '/api/v1/health') return send(response, 200, { status: 'ok' });
    if (sheet && url.pathname === '/api/v1/contracts/export') return sheet(response);
    const body = request.method === 'GET' ? undefined : (JSON.parse(await bodyOf(request)) as { password?: string });
    if (url.pathname === '/api/v1/auth/login')
      return send(response, (await verify(options.passwordHash, body?.password ?? '')) ? 200 : 401, {});
    for (const [pattern, handler, { writes, status }] of routes) {
      const match = pattern.exec(`${request.method ?? ''} ${url.pathname}`);
      if (!match) continue;
      const result = await run(
        handler,
        { id: match[1] ?? '', query: url.searchParams, body: body as never },
        { writes },
      );
      return send(response, result === undefined ? 404 : status, result ?? {});
    }
    send(response, 404, {});
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      console.error(error);
      send(response, 500, {});
    });
  }).listen(port, '127.0.0.1');
  process.once('SIGTERM', () => {
    server.close(() => process.exit(0));
    server.closeAllConnections();
  });
}

function send(response: ServerResponse, status: number, value: unknown): void {
  const text = JSON.stringify(value);
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
  response.end(text);
}

function bodyOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    request.on('error', reject);
  });
}

function sqlite(file: string): SqliteConnection.Database {
  const connection = new SqliteConnection(file);
  for (const pragma of [
    'journal_mode = WAL',
    'synchronous = FULL',
    'foreign_keys = ON',
    'cache_size = -65536',
    'temp_store = MEMORY',
  ])
    connection.pragma(pragma);
  return connection;
}

function onSqlite(options: RawOptions): Run {
  const connection = sqlite(options.database);
  const prepared = new Map<string, Prepared>();
  const rowsOf = ({ sql, values }: Statement): readonly Row[] => {
    let statement = prepared.get(sql);
    if (!statement) prepared.set(sql, (statement = connection.prepare(sql)));
    if (statement.reader) return statement.all(...values) as Row[];
    statement.run(...values);
    return [];
  };
  const toEnd = (work: ReturnType<Handler>): unknown => {
    let step = work.next();
    while (!step.done) step = work.next(rowsOf(step.value));
    return step.value;
  };
  const begin = connection.prepare('BEGIN IMMEDIATE');
  const commit = connection.prepare('COMMIT');
  return (handler, input, { writes }) => {
    if (!writes) return toEnd(handler(input, options));
    begin.run();
    try {
      const result = toEnd(handler(input, options));
      commit.run();
      return result;
    } catch (error) {
      connection.exec('ROLLBACK');
      throw error;
    }
  };
}

const INT8 = 20;
/** The default number of connections of the product. */
const POOL = 10;

function onPostgres(options: RawOptions): Run {
  pg.types.setTypeParser(INT8, Number);
  const pool = new pg.Pool({ connectionString: options.database, max: POOL });
  const named = new Map<string, { readonly name: string; readonly text: string }>();
  const statementOf = (sql: string) => {
    let statement = named.get(sql);
    if (!statement) {
      let n = 0;
      named.set(sql, (statement = { name: `s${named.size}`, text: sql.replaceAll('?', () => `$${++n}`) }));
    }
    return statement;
  };
  return async (handler, input, { writes }) => {
    const client = await pool.connect();
    try {
      if (writes) await client.query('BEGIN');
      const work = handler(input, options);
      let step = work.next();
      while (!step.done)
        step = work.next(
          (await client.query<Row>({ ...statementOf(step.value.sql), values: [...step.value.values] })).rows,
        );
      if (writes) await client.query('COMMIT');
      return step.value;
    } catch (error) {
      if (writes) await client.query('ROLLBACK');
      throw error;
    } finally {
      client.release();
    }
  };
}
