import { createHmac } from 'node:crypto';
import { TWENTY_A_MINUTE, type HttpAdapter } from './adapter.js';
import { byCode, json } from './answers.js';
import { COMMON_MARKDOWN, markdown, type Dialect } from './markdown.js';

/**
 * Custom bots: https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot (100 messages a minute and 5 a second,
 * 20 KB, signature, codes), cards: https://open.feishu.cn/document/common-capabilities/message-card/message-cards-content/using-markdown-tags
 */
export const feishu: HttpAdapter = {
  transport: 'http',
  digests: true,
  pace: TWENTY_A_MINUTE,
  render: (notice, style) => markdown(notice, style, CARD_MARKDOWN),
  request: ({ subject, body, urgency }, { target, secret, now }) =>
    json(target, {
      ...(secret === null ? {} : signed(secret, String(Math.floor(now / 1_000)))),
      msg_type: 'interactive',
      card: {
        config: { wide_screen_mode: true },
        header: { title: { tag: 'plain_text', content: subject }, template: COLOURS[urgency] },
        elements: [{ tag: 'markdown', content: body }],
      },
    }),
  verdict: (answer, now) => byCode(answer, now, { codeField: 'code', messageField: 'msg', waits: { 11232: 60_000 } }),
};

/** The timestamp and the secret are the key of the signature, and the signed message is empty. */
const signed = (secret: string, timestamp: string) => ({
  timestamp,
  sign: createHmac('sha256', `${timestamp}\n${secret}`).digest('base64'),
});

const COLOURS = { info: 'blue', warning: 'orange', urgent: 'red' } as const;

const CARD_MARKDOWN: Dialect = { ...COMMON_MARKDOWN, newline: '\n', maxBytes: 18_000 };
