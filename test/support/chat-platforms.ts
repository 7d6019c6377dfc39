import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Answer, ReceivedRequest } from './receiver.js';

/**
 * The webhooks of the chat platforms as their public documentation describes them (the pages are named in the adapters):
 * the form of a message, signatures, limits and the codes in their answers. `secret`: the robot requires signatures.
 */
type Platform = (request: ReceivedRequest, options: { readonly secret?: string; readonly now: number }) => Answer;

type Json = { readonly [key: string]: Json | undefined } & { readonly length?: number };
const parse = ({ body }: ReceivedRequest): Json | undefined => {
  try {
    return JSON.parse(body) as Json;
  } catch {
    return undefined;
  }
};
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);
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
  if (!isJsonPost(request) || !message) return { status: 400, body: 'invalid_payload' };
  const blocks = list(message['blocks']);
  const sound = blocks.every((block) => {
    const text = block['text']?.['text'];
    if (!isText(text)) return false;
    return block['type'] === ('header' as unknown)
      ? block['text']?.['type'] === ('plain_text' as unknown) && text.length <= 150
      : block['type'] === ('section' as unknown) && text.length <= 3_000;
  });
  return isText(message['text']) && blocks.length > 0 && blocks.length <= 50 && sound
    ? { body: 'ok' }
    : { status: 400, body: 'invalid_blocks' };
};

const teams: Platform = (request) => {
  const message = parse(request);
  const [attachment] = list(message?.['attachments']);
  const card = attachment?.['content'];
  const blocks = list(card?.['body']);
  if (Buffer.byteLength(request.body) > 28 * 1_024) return { status: 413 };
  return isJsonPost(request) &&
    message?.['type'] === ('message' as unknown) &&
    attachment?.['contentType'] === ('application/vnd.microsoft.card.adaptive' as unknown) &&
    card?.['type'] === ('AdaptiveCard' as unknown) &&
    blocks.length > 0 &&
    blocks.every((block) => block['type'] === ('TextBlock' as unknown) && isText(block['text']))
    ? { status: 202 }
    : json({ error: { code: 'TriggerInputSchemaMismatch', message: 'The input body is not valid.' } }, 400);
};

const feishu: Platform = (request, { secret, now }) => {
  const message = parse(request);
  const card = message?.['card'];
  const sound =
    isJsonPost(request) &&
    Buffer.byteLength(request.body) <= 20 * 1_024 &&
    message?.['msg_type'] === ('interactive' as unknown) &&
    isText(card?.['header']?.['title']?.['content']) &&
    list(card?.['elements']).every((element) => isText(element['content']));
  if (!sound) return json({ code: 9499, msg: 'Bad Request', data: {} });
  if (secret !== undefined) {
    const timestamp = String(message?.['timestamp']);
    const wanted = createHmac('sha256', `${timestamp}\n${secret}`).update('').digest('base64');
    const late = Math.abs(Number(timestamp) - now / 1_000) > 3_600;
    if (late || !equal(wanted, String(message?.['sign'])))
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
  const markdown = message?.['markdown'];
  if (secret !== undefined) {
    const query = new URL(request.path, 'https://oapi.dingtalk.com').searchParams;
    const timestamp = query.get('timestamp') ?? '';
    const wanted = createHmac('sha256', secret).update(`${timestamp}\n${secret}`).digest('base64');
    if (Math.abs(Number(timestamp) - now) > 3_600_000) return json({ errcode: 310000, errmsg: 'invalid timestamp' });
    if (!equal(wanted, query.get('sign') ?? '')) return json({ errcode: 310000, errmsg: 'sign not match' });
  }
  if (!isJsonPost(request) || message?.['msgtype'] !== ('markdown' as unknown))
    return json({ errcode: 400105, errmsg: 'unsupported msgtype' });
  if (!isText(markdown?.['title']) || !isText(markdown?.['text']))
    return json({ errcode: 40035, errmsg: '缺少参数 json' });
  return Buffer.byteLength(request.body) > 20_000
    ? json({ errcode: 460101, errmsg: 'message too long, exceed 20000 bytes' })
    : json({ errcode: 0, errmsg: 'ok' });
};

const wecom: Platform = (request) => {
  const message = parse(request);
  const content = message?.['markdown']?.['content'] as unknown;
  if (!isJsonPost(request) || message?.['msgtype'] !== ('markdown' as unknown) || !isText(content))
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

/** The text of a message in the form of its platform, joined again. */
export function textOf(kind: string, { body }: ReceivedRequest): string {
  const message = JSON.parse(body) as Json;
  switch (kind) {
    case 'slack':
      return list(message['blocks'])
        .slice(1)
        .map((block) => String(block['text']?.['text']))
        .join('\n');
    case 'teams':
      return list(list(message['attachments'])[0]?.['content']?.['body'])
        .slice(1)
        .map((block) => String(block['text']))
        .join('\n');
    case 'feishu':
      return String(list(message['card']?.['elements'])[0]?.['content']);
    case 'dingtalk':
      return String(message['markdown']?.['text']);
    case 'wecom':
      return String(message['markdown']?.['content']);
    default:
      return body;
  }
}
