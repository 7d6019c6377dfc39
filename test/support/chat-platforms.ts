import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Answer, ReceivedRequest } from './receiver.js';

/**
 * The webhooks of the chat platforms as their public documentation describes them (the adapters name the pages): the
 * form of a message, signatures, limits and the codes in their answers. `secret`: the robot requires signatures.
 */
type Platform = (request: ReceivedRequest, options: { readonly secret?: string; readonly now: number }) => Answer;

/** The value at a path of keys and positions. */
const at = (value: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null ? (inner as Record<string | number, unknown>)[key] : undefined,
    value,
  );
const textAt = (value: unknown, ...path: readonly (string | number)[]): string => {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
};
const listAt = (value: unknown, ...path: readonly (string | number)[]): readonly unknown[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
};
const parse = ({ body }: ReceivedRequest): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};
const json = (body: object, status = 200): Answer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
const equal = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
const isJsonPost = ({ method, headers }: ReceivedRequest): boolean =>
  method === 'POST' && headers['content-type']?.startsWith('application/json') === true;

const slack: Platform = (request) => {
  const message = parse(request);
  if (!isJsonPost(request) || message === undefined) return { status: 400, body: 'invalid_payload' };
  const blocks = listAt(message, 'blocks');
  const sound = blocks.every((block) => {
    const { length } = textAt(block, 'text', 'text');
    const [type, textType] = [at(block, 'type'), at(block, 'text', 'type')];
    return (
      length > 0 &&
      ((type === 'header' && textType === 'plain_text' && length <= 150) ||
        (type === 'section' && ['plain_text', 'mrkdwn'].includes(String(textType)) && length <= 3_000))
    );
  });
  return textAt(message, 'text') !== '' && blocks.length > 0 && blocks.length <= 50 && sound
    ? { body: 'ok' }
    : { status: 400, body: 'invalid_blocks' };
};

const teams: Platform = (request) => {
  const message = parse(request);
  const attachment = at(message, 'attachments', 0);
  const blocks = listAt(attachment, 'content', 'body');
  if (Buffer.byteLength(request.body) > 28 * 1_024) return { status: 413 };
  return isJsonPost(request) &&
    at(message, 'type') === 'message' &&
    at(attachment, 'contentType') === 'application/vnd.microsoft.card.adaptive' &&
    at(attachment, 'content', 'type') === 'AdaptiveCard' &&
    blocks.length > 0 &&
    blocks.every((block) => at(block, 'type') === 'TextBlock' && textAt(block, 'text') !== '')
    ? { status: 202 }
    : json({ error: { code: 'TriggerInputSchemaMismatch', message: 'The input body is not valid.' } }, 400);
};

const feishu: Platform = (request, { secret, now }) => {
  const message = parse(request);
  const elements = listAt(message, 'card', 'elements');
  const sound =
    isJsonPost(request) &&
    Buffer.byteLength(request.body) <= 20 * 1_024 &&
    at(message, 'msg_type') === 'interactive' &&
    textAt(message, 'card', 'header', 'title', 'content') !== '' &&
    elements.every((element) => textAt(element, 'content') !== '');
  if (!sound) return json({ code: 9499, msg: 'Bad Request', data: {} });
  if (secret !== undefined) {
    const timestamp = textAt(message, 'timestamp');
    const wanted = createHmac('sha256', `${timestamp}\n${secret}`).update('').digest('base64');
    const late = Math.abs(Number(timestamp) - now / 1_000) > 3_600;
    if (late || !equal(wanted, textAt(message, 'sign')))
      return json({
        code: 19021,
        msg: 'sign match fail or timestamp is not within one hour from current time',
        data: {},
      });
  }
  return json({ StatusCode: 0, StatusMessage: 'success', code: 0, data: {}, msg: 'success' });
};

const dingtalk: Platform = (request, { secret, now }) => {
  const message = parse(request);
  if (secret !== undefined) {
    const query = new URL(request.path, 'https://oapi.dingtalk.com').searchParams;
    const timestamp = query.get('timestamp') ?? '';
    const wanted = createHmac('sha256', secret).update(`${timestamp}\n${secret}`).digest('base64');
    if (Math.abs(Number(timestamp) - now) > 3_600_000) return json({ errcode: 310000, errmsg: 'invalid timestamp' });
    if (!equal(wanted, query.get('sign') ?? '')) return json({ errcode: 310000, errmsg: 'sign not match' });
  }
  if (!isJsonPost(request) || at(message, 'msgtype') !== 'markdown')
    return json({ errcode: 400105, errmsg: 'unsupported msgtype' });
  if (textAt(message, 'markdown', 'title') === '' || textAt(message, 'markdown', 'text') === '')
    return json({ errcode: 40035, errmsg: '缺少参数 json' });
  return Buffer.byteLength(request.body) > 20_000
    ? json({ errcode: 460101, errmsg: 'message too long, exceed 20000 bytes' })
    : json({ errcode: 0, errmsg: 'ok' });
};

const wecom: Platform = (request) => {
  const message = parse(request);
  const content = textAt(message, 'markdown', 'content');
  if (!isJsonPost(request) || at(message, 'msgtype') !== 'markdown' || content === '')
    return json({ errcode: 40008, errmsg: 'invalid message type' });
  return Buffer.byteLength(content) > 4_096
    ? json({ errcode: 40058, errmsg: 'markdown.content exceed max length 4096. invalid Request Parameter' })
    : json({ errcode: 0, errmsg: 'ok' });
};

export const CHAT_PLATFORMS: Readonly<Record<'slack' | 'teams' | 'feishu' | 'dingtalk' | 'wecom', Platform>> = {
  slack,
  teams,
  feishu,
  dingtalk,
  wecom,
};

/** The text of a message in the form of its platform, without the title, joined again. */
export function textOf(kind: string, request: ReceivedRequest): string {
  const message = parse(request);
  const joined = (blocks: readonly unknown[], ...path: readonly string[]): string =>
    blocks
      .slice(1)
      .map((block) => textAt(block, ...path))
      .join('\n');
  switch (kind) {
    case 'slack':
      return joined(listAt(message, 'blocks'), 'text', 'text');
    case 'teams':
      return joined(listAt(message, 'attachments', 0, 'content', 'body'), 'text');
    case 'feishu':
      return textAt(message, 'card', 'elements', 0, 'content');
    case 'dingtalk':
      return textAt(message, 'markdown', 'text');
    case 'wecom':
      return textAt(message, 'markdown', 'content');
    default:
      return request.body;
  }
}
