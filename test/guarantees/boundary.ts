import { decodeJwt } from 'jose';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { signReply, signRequest } from '../../data-plane-agent/base/link/envelope.js';
import { newLinkKey, signerOf } from '../../data-plane-agent/base/link/keys.js';
import * as messages from '../../data-plane-agent/base/link/messages.js';
import { signJoin, signRotation } from '../../data-plane-agent/base/link/proofs.js';
import { signToken } from '../../data-plane-agent/base/link/tokens.js';
import { s, type TSchema } from '../../data-plane-agent/base/schema.js';
import { FAILURES } from '../../data-plane-agent/base/failures.js';
import { Call } from '../../data-plane-agent/plane/contract/call.js';
import { OPERATION_NAMES, OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import { fieldsOf } from './boundary-fields.js';
import { COLUMNS, OWN, PASSED_ON, STORED, type Rule } from './boundary-rules.js';

type Direction = 'to_agent' | 'to_control_plane';

/** What happens to the fields at the control plane. Each field is in exactly one of the three. */
export interface Fields {
  readonly direction: Direction;
  readonly passesThrough: readonly string[];
  /** Values of the control plane's own records, with their columns. */
  readonly ownRecords: Readonly<Record<string, readonly string[]>>;
  /** Values that it stores, with their columns. */
  readonly stored: Readonly<Record<string, readonly string[]>>;
}

export interface Register {
  readonly about: string;
  readonly columns: Readonly<Record<string, string>>;
  readonly passedOn: Readonly<Record<string, string>>;
  readonly link: Readonly<Record<string, Fields>>;
  readonly everyRequest: Fields;
  readonly everyReply: Fields;
  readonly operations: Readonly<
    Record<string, { readonly effect: 'read' | 'write'; readonly input: Fields; readonly output: Fields }>
  >;
}

/** The register, from the schemas and the rules; with the rules that no field has matched. */
export async function boundary(): Promise<{ readonly register: Register; readonly unused: readonly Rule[] }> {
  const used = new Set<Rule>();
  const classify = (at: readonly string[], direction: Direction, fields: readonly string[]): Fields => {
    const stored: Record<string, readonly string[]> = {};
    const ownRecords: Record<string, readonly string[]> = {};
    const passesThrough: string[] = [];
    const matching = (rules: readonly Rule[], field: string): Rule | undefined =>
      rules.find((rule) => at.includes(rule.at) && rule.field.test(field));
    for (const field of fields.toSorted()) {
      const kept = matching(STORED, field);
      // Rows of an import are what a member sent, not records of the control plane.
      const own = kept || field.startsWith('rows[]') ? undefined : matching(OWN, field);
      if (kept) stored[field] = kept.columns;
      else if (own) ownRecords[field] = own.columns;
      else passesThrough.push(field);
      for (const rule of [kept, own]) if (rule) used.add(rule);
    }
    return { direction, passesThrough, ownRecords, stored };
  };

  const link = Object.fromEntries(
    [...LINK, ...(await tokens())].map(([name, direction, fields]) => [name, classify([name], direction, fields)]),
  );
  const operations = Object.fromEntries(
    OPERATION_NAMES.toSorted().map((name) => {
      const { effect, input, output } = OPERATIONS[name];
      return [
        name,
        {
          effect,
          input: classify([`${name}.input`, '*'], 'to_agent', fieldsOf(input)),
          output: classify([`${name}.output`, '*'], 'to_control_plane', fieldsOf(output)),
        },
      ];
    }),
  );
  const everyRequest = classify(['call'], 'to_agent', ['protocol', 'name', ...fieldsOf(s.object({ call: Call }))]);
  const everyReply = classify([], 'to_control_plane', ['ok', 'replayed', 'fault', 'speaks', ...refusals()]);
  return {
    register: { about: ABOUT, columns: COLUMNS, passedOn: PASSED_ON, link, everyRequest, everyReply, operations },
    unused: [...STORED, ...OWN].filter((rule) => !used.has(rule)),
  };
}

const ABOUT =
  'Every field that crosses between a data-plane agent and the control plane in the edition enterprise_hybrid. passesThrough: not stored by the control plane. ownRecords: a value of a record that belongs to the control plane, with the columns of the platform database that have it; to which contract it belongs is not stored. stored: the control plane stores the value in these columns. Generated from the schemas of the operations and messages: UPDATE_DOCS=1 npx mocha test/guarantees/boundary.test.ts. docs/data-boundary.md explains it.';

type Message = readonly [name: string, direction: Direction, fields: readonly string[]];

const message = (name: string, direction: Direction, schema: TSchema): Message => [name, direction, fieldsOf(schema)];

/** All messages beside operations. A test compares them with the schemas that `messages.ts` exports. */
export const LINK_SCHEMAS: Readonly<Record<string, readonly [Direction, keyof typeof messages]>> = {
  challenge: ['to_control_plane', 'ChallengeRequest'],
  'challenge: answer': ['to_agent', 'Challenge'],
  join: ['to_control_plane', 'JoinRequest'],
  'join: answer': ['to_agent', 'Joined'],
  rotate: ['to_control_plane', 'RotateRequest'],
  'rotate: answer': ['to_agent', 'Rotated'],
  hello: ['to_control_plane', 'Hello'],
  welcome: ['to_agent', 'Welcome'],
  heartbeat: ['to_control_plane', 'AgentReport'],
  'notice tenant': ['to_agent', 'LinkedTenant'],
  'notice keys': ['to_agent', 'PinnedKeys'],
};
const schemas = { ...messages };
const LINK: readonly Message[] = [
  ...Object.entries(LINK_SCHEMAS).map(([name, [direction, schema]]) =>
    message(name, direction, schemas[schema] as TSchema),
  ),
  ['notice ready', 'to_control_plane', []],
  ['notice outbox', 'to_control_plane', []],
];

/** The claims of each kind of token, read from tokens that the product has signed. */
async function tokens(): Promise<Message[]> {
  const clock = systemClock;
  const key = await newLinkKey();
  const signer = signerOf(key);
  const facts = { controlPlane: 'https://book.example', connectionId: newId(), tenantId: newId(), session: newId() };
  const body = new Uint8Array();
  const jti = newId();
  const claims = (token: string): string[] => Object.keys(decodeJwt(token));
  const { token: request } = signRequest(facts, { operation: 'x', subject: 'x', body, jti, signer, clock });
  const { authorization, proof } = await signRotation(
    { ...facts, key: key.publicJwk },
    { current: signer, next: signer, clock },
  );
  const join = { controlPlane: facts.controlPlane, instanceId: newId(), joinToken: 'x', nonce: 'x' };
  const connect = { type: 'connect', issuer: facts.connectionId, audience: facts.controlPlane } as const;
  return [
    ['token of a request', 'to_agent', claims(request)],
    ['token of a reply', 'to_control_plane', claims(signReply(facts, { jti, body, signer, clock }))],
    [
      'token of a connection',
      'to_control_plane',
      claims(signToken(connect, { claims: { sub: facts.connectionId }, signer, clock })),
    ],
    ['token of a join', 'to_control_plane', claims(signJoin(join, { signer, clock }))],
    ['token of a rotation', 'to_control_plane', claims(authorization)],
    ['token of a rotation: proof', 'to_control_plane', claims(proof)],
  ];
}

/** The details of refusals that operations can report. */
function refusals(): string[] {
  const codes = new Set(OPERATION_NAMES.flatMap((name) => [...OPERATIONS[name].fails]));
  const all = ['INVALID_INPUT', 'NOT_FOUND', ...codes] as const;
  return ['code', ...new Set(all.flatMap((code) => fieldsOf(FAILURES[code].details).map((at) => `details.${at}`)))];
}
