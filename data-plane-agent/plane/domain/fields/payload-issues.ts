import { checker, type Checked } from '../../../base/validation.js';
import type { Issue } from '../../../base/issue.js';
import { PAYLOADS, type FieldCommandType, type PayloadOf } from '../../contract/records/fields.js';

type Payload = Readonly<Record<string, unknown>>;

/** Checks a command's payload on its own, and returns it or all its issues. */
export function readPayload<C extends FieldCommandType>(type: C, payload: Payload): Checked<PayloadOf<C>> {
  const read = checker(PAYLOADS[type])(payload);
  // A blank value was changed to `null` earlier, because other commands accept it.
  const shape = read.ok
    ? []
    : read.issues.map(({ path, problem }) => ({
        path: `payload.${path}`,
        problem: payload[path] === null ? 'is required' : problem,
      }));
  const named = new Set(shape.map(({ path }) => path));
  const issues = [
    ...shape,
    ...(type === 'MoveField' ? placeIssues(payload).filter(({ path }) => !named.has(path)) : []),
  ];
  return read.ok && issues.length === 0 ? { ok: true, value: read.value as PayloadOf<C> } : { ok: false, issues };
}

/** The ways to give a field's position; at most one may be used. */
const WAYS = ['order', 'beforeFieldId', 'afterFieldId'] as const;

export const wayOf = (payload: Payload): (typeof WAYS)[number] | undefined => WAYS.find((key) => isGiven(payload[key]));

function placeIssues(payload: Payload): Issue[] {
  const [first, ...more] = WAYS.filter((key) => isGiven(payload[key]));
  if (first === undefined && payload['section'] === undefined)
    return [{ path: 'payload', problem: 'must contain order, beforeFieldId, afterFieldId or section' }];
  return more.map((key) => ({ path: `payload.${key}`, problem: `cannot be combined with ${first ?? ''}` }));
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
