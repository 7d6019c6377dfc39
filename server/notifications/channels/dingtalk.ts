import { createHmac } from 'node:crypto';
import { TWENTY_A_MINUTE, type HttpAdapter } from './adapter.js';
import { byCode, json } from './answers.js';
import { COMMON_MARKDOWN, markdown, type Dialect } from './markdown.js';

/**
 * Custom robots: https://open.dingtalk.com/document/orgapp/custom-robots-send-group-messages (20 messages a minute,
 * otherwise none for ten minutes), message types:
 * https://open.dingtalk.com/document/orgapp/custom-bot-send-message-type, signature:
 * https://open.dingtalk.com/document/orgapp/customize-robot-security-settings
 */
export const dingtalk: HttpAdapter = {
  transport: 'http',
  digests: true,
  pace: TWENTY_A_MINUTE,
  render: (notice, style) => markdown(notice, style, MARKDOWN),
  request: ({ subject, body }, { target, secret, now }) =>
    json(secret === null ? target : signed(target, secret, String(now)), {
      msgtype: 'markdown',
      markdown: { title: subject, text: body },
      at: { isAtAll: false },
    }),
  verdict: (answer, now) =>
    byCode(answer, now, { codeField: 'errcode', messageField: 'errmsg', waits: { 130101: 600_000, 410100: 600_000 } }),
};

/** The timestamp is in milliseconds. */
function signed(target: string, secret: string, timestamp: string): string {
  const url = new URL(target);
  url.searchParams.set('timestamp', timestamp);
  url.searchParams.set('sign', createHmac('sha256', secret).update(`${timestamp}\n${secret}`).digest('base64'));
  return url.href;
}

const MARKDOWN: Dialect = {
  ...COMMON_MARKDOWN,
  heading: (text) => `### ${text}`,
  newline: '\n\n',
  maxBytes: 18_000,
};
