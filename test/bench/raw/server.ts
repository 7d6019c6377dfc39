import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { verify } from '@node-rs/argon2';
import { kept, type Kept, type KeptSetting } from './contract.js';
import { rawExport, type ExportSetting } from './export.js';
import { filtersOf, PAGE, type Reader } from './lists.js';
import { newContract, type Beginning, type ContractBody } from './new-contract.js';
import { postgresStore } from './postgres.js';
import { changeBy, type ReceiptInput } from './receipt.js';
import { openSqlite, sqliteStore } from './sqlite.js';
import type { Detail } from './store.js';

/** What the benchmark tells the raw program: its only argument, as JSON. */
export interface RawOptions extends KeptSetting, Beginning, ExportSetting {
  /** A file, or `postgres://…`. */
  readonly database: string;
  /** By token. */
  readonly readers: Readonly<Record<string, Reader>>;
  /** By reader and filters: the raw program does not count. */
  readonly totals: Readonly<Record<string, number>>;
  readonly overdueTotal: number;
  readonly passwordHash: string;
}

export const totalKey = (reader: Reader, filters: string): string => `${reader.name} ${filters}`;

/**
 * The baseline: plain `node:http` on tables of its own, which hold the pieces of JSON that are answered. No
 * authentication, validation, permissions, audit or counts. Each write is one durable transaction.
 */
function serve(options: RawOptions, port: number): void {
  const isPostgres = options.database.startsWith('postgres');
  const store = isPostgres ? postgresStore(options.database) : sqliteStore(openSqlite(options.database));
  const sheet = isPostgres ? undefined : rawExport(openSqlite(options.database), openSqlite(options.database), options);
  const [owner] = Object.values(options.readers);
  if (!owner) throw new Error('the raw program needs a reader');

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = request.url ?? '/';
    const at = url.indexOf('?');
    const [path, query] = at === -1 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
    const reader = options.readers[(request.headers.authorization ?? '').slice('Bearer '.length)] ?? owner;
    if (request.method === 'GET') {
      if (path === CONTRACTS) return send(response, 200, await list(query, reader));
      if (path === '/api/v1/payments') return send(response, 200, await overdue(query));
      if (path === '/api/v1/health') return send(response, 200, '{"status":"ok"}');
      if (path === `${CONTRACTS}/export` && sheet) return sheet(response);
      const detail = await store.detail(path.slice(CONTRACTS.length + 1), reader);
      return detail ? send(response, 200, detailText(detail)) : send(response, 404, '{}');
    }
    const body: unknown = JSON.parse(await bodyOf(request));
    if (path === CONTRACTS) {
      const contract = kept(newContract(body as ContractBody, options), options);
      await store.create(contract);
      return send(response, 201, newText(contract));
    }
    if (path === '/api/v1/auth/login')
      return send(
        response,
        (await verify(options.passwordHash, (body as { password: string }).password)) ? 200 : 401,
        '{}',
      );
    const lineId = path.slice('/api/v1/payments/'.length, -'/receipt'.length);
    const text = await store.receive(lineId, changeBy(lineId, body as ReceiptInput, options, Date.now()));
    return text === undefined ? send(response, 404, '{}') : send(response, 200, text);
  };

  const list = async (query: string, reader: Reader): Promise<string> => {
    const given = new URLSearchParams(query);
    const page = Number(given.get('page') ?? 1);
    const filters = filtersOf(query);
    const total = options.totals[totalKey(reader, filters)] ?? 0;
    const items = await store.page({
      filters: new URLSearchParams(filters),
      reader,
      total,
      sort: given.get('sort') ?? 'createdAt',
      order: given.get('order') === 'desc' ? 'desc' : 'asc',
      offset: (page - 1) * PAGE,
    });
    return pageText(items.length === 0 ? '' : `{${items.join('},{')}}`, page, total);
  };
  const overdue = async (query: string): Promise<string> => {
    const page = Number(new URLSearchParams(query).get('page') ?? 1);
    const items = await store.overdue(options.today, (page - 1) * PAGE);
    return pageText(items.join(','), page, options.overdueTotal);
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      console.error(error);
      send(response, 500, '{}');
    });
  }).listen(port, '127.0.0.1');
  process.once('SIGTERM', () => {
    server.close(() => process.exit(0));
    server.closeAllConnections();
  });
}

const CONTRACTS = '/api/v1/contracts';

const pageText = (items: string, page: number, total: number): string =>
  `{"items":[${items}],"page":${page},"pageSize":${PAGE},"total":${total},"pageCount":${Math.ceil(total / PAGE)}}`;

const detailText = ({ contract, names, lines, parts }: Detail): string =>
  `{${contract},"payments":[${lines}],"terms":[${parts['term'] ?? ''}],"notes":[${parts['note'] ?? ''}],"fulfillmentTasks":[${parts['task'] ?? ''}],"invoices":[${parts['invoice'] ?? ''}],"warnings":[],${names}}`;

function newText({ texts: [core, shown, , state, names], lines, parts }: Kept): string {
  const of = (kind: string): string =>
    parts
      .filter(([own]) => own === kind)
      .map((part) => part[2])
      .join(',');
  return detailText({
    contract: `${core},${shown},${state}`,
    names: String(names),
    lines: lines.map((line) => line[6]).join(','),
    parts: { term: of('term'), note: of('note') },
  });
}

function send(response: ServerResponse, status: number, text: string): void {
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

// The benchmark imports this file as well, for its types.
const [, program, given] = process.argv;
if (program === import.meta.filename && given !== undefined)
  serve(JSON.parse(given) as RawOptions, Number(process.env['PORT']));
