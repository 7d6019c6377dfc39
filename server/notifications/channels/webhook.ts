import { createHmac } from 'node:crypto';
import { iso } from '../../../data-plane-agent/base/instants.js';
import { noticeText } from '../notices/index.js';
import { isDigest, type Notice } from '../notices/notice.js';
import { cutTo, inert } from '../notices/inert.js';
import { TEN_A_SECOND, type HttpAdapter } from './adapter.js';
import { byStatus, json } from './answers.js';

/** Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
export const webhook: HttpAdapter = {
  transport: 'http',
  digests: false,
  pace: TEN_A_SECOND,
  render: (notice, { language }) => {
    const { text } = noticeText(notice, language);
    const subject = text.subject.map((piece) => (typeof piece === 'string' ? piece : piece.value)).join('');
    return {
      subject: cutTo(500, subject, inert),
      body: JSON.stringify({ type: notice.type, timestamp: iso(notice.at), data: dataOf(notice) }),
      format: 'text',
      urgency: text.urgency,
    };
  },
  request: ({ body }, { target, secret, id, now }) => {
    const timestamp = String(Math.floor(now / 1_000));
    return json(target, body, {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      ...(secret === null
        ? {}
        : { 'webhook-signature': `v1,${signature(`${id}.${timestamp}.${body}`, keyOf(secret))}` }),
    });
  },
  verdict: byStatus,
};

/** The values as they are stored: it is for the receiver to escape what it shows. */
function dataOf(notice: Notice): object {
  if (notice.type === 'reminder') {
    const [only] = notice.lines;
    return isDigest(notice) || !only ? { lines: notice.lines } : only;
  }
  const { type: _type, at: _at, ...data } = notice;
  return data;
}

const signature = (content: string, key: Buffer): string => createHmac('sha256', key).update(content).digest('base64');

const PREFIX = 'whsec_';
const keyOf = (secret: string): Buffer =>
  secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret, 'utf8');
