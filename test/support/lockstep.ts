import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { Answer, Client } from './http.js';

/** One request of a scenario. `{name}` is replaced by a value of an earlier step. */
export interface Step {
  /** `PATCH /contracts/{crane}?…` */
  readonly request: string;
  readonly status: number;
  readonly body?: unknown;
  /** The caller; by default the owner. */
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Values of the answer for later steps, by name: `payments[0].id`. */
  readonly keep?: Readonly<Record<string, string>>;
}

/** A server that runs the scenario, with the values collected so far. */
export interface Stage {
  readonly clients: Readonly<Record<string, Client>>;
  readonly known: Map<string, string>;
  /** Ids in order of appearance, the only property that can be equal on two servers. */
  readonly ids: Map<string, string>;
  /** Creation times of the organisations, which the test clock does not control: ids contain them. */
  readonly births: readonly string[];
}

/** The parts of the answer that can be equal on two servers. */
export interface Played {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | null>>;
}

const HEADERS = ['content-type', 'content-disposition', 'etag', 'allow', 'idempotency-replayed', 'location'] as const;
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Runs a step and checks its status. */
export async function play(
  stage: Stage,
  { request, status, body, as = 'owner', headers = {}, keep = {} }: Step,
): Promise<Played> {
  const filled = (text: string): string =>
    text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => stage.known.get(name) ?? whole);
  const [method = '', path = ''] = filled(request).split(' ');
  const client = stage.clients[as];
  if (!client) throw new Error(`nobody is called ${as}`);
  const sent = body === undefined ? undefined : (JSON.parse(filled(JSON.stringify(body))) as unknown);
  const options = {
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filled(value)])),
  };
  const answer = await (method === 'GET'
    ? client.get(path, options)
    : client[method.toLowerCase() as 'post' | 'patch' | 'put' | 'delete'](path, sent, options));
  expect(answer.status, `${request}: ${answer.text.slice(0, 1_000)}`).to.equal(status);
  for (const [name, place] of Object.entries(keep)) stage.known.set(name, textAt(answer.body, place));
  const ordinal = (id: string): string => {
    const known = stage.ids.get(id) ?? `id-${stage.ids.size + 1}`;
    stage.ids.set(id, known);
    return known;
  };
  return {
    status: answer.status,
    text: stage.births.reduce(
      (text, birth) => text.replaceAll(birth, 'at its birth'),
      answer.text.replaceAll(ID, ordinal),
    ),
    headers: { ...Object.fromEntries(HEADERS.map((name) => [name, answer.headers.get(name)])), etag: tagOf(answer) },
  };
}

/** A digest of the answer, which has the ids of the server in it, is not equal on two servers: it must be right. */
function tagOf({ headers, text }: Answer<unknown>): string | null {
  const tag = headers.get('etag');
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 32);
  return tag === `"${digest}"` ? 'a digest of the answer' : tag;
}

function textAt(root: unknown, place: string): string {
  let value = root;
  for (const key of place.split(/[.[\]]+/).filter((one) => one !== ''))
    value = (value as Record<string, unknown> | undefined)?.[key];
  if (typeof value !== 'string') throw new Error(`there is no text at ${place}`);
  return value;
}
