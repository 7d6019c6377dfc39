import { inertInMarkdown } from '../notices/inert.js';
import { TWENTY_A_MINUTE, type HttpAdapter } from './adapter.js';
import { byStatus, json, objectIn } from './answers.js';
import { markdown, type Dialect } from './markdown.js';

/**
 * Incoming webhooks: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks, blocks:
 * https://docs.slack.dev/reference/block-kit/blocks (header 150 characters, section 3 000, 50 blocks), text:
 * https://docs.slack.dev/messaging/formatting-message-text, pace: https://docs.slack.dev/apis/web-api/rate-limits (one
 * message a second, `Retry-After`).
 */
export const slack: HttpAdapter = {
  transport: 'http',
  digests: true,
  pace: TWENTY_A_MINUTE,
  render: (notice, style) => markdown(notice, style, MRKDWN),
  request: ({ subject, body }, { target }) =>
    json(target, {
      text: subject,
      blocks: [
        { type: 'header', text: { type: 'plain_text', text: subject, emoji: false } },
        ...sections(body).map((text) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } })),
      ],
    }),
  verdict: (answer, now) => {
    const verdict = byStatus(answer, now);
    // Webhooks of Slack's workflows answer with JSON.
    return verdict.delivered && objectIn(answer)?.['ok'] === false
      ? { delivered: false, error: 'Slack refused the message' }
      : verdict;
  },
};

/** Slack unescapes exactly these three, so they are shown as they are. */
const ENTITIES: Readonly<Record<string, string>> = { '＆': '&amp;', '＜': '&lt;', '＞': '&gt;' };

const MRKDWN: Dialect = {
  // What the value itself contains in full width is written as the ASCII character, too, which reads the same.
  escape: (value) => inertInMarkdown(value).replaceAll(/[＆＜＞]/g, (character) => ENTITIES[character] ?? character),
  bold: (text) => `*${text}*`,
  link: (label, url) => `<${url.replaceAll('&', '&amp;')}|${label}>`,
  newline: '\n',
  // Messages of more than about 13 000 characters of blocks are refused, although no limit of that kind is documented.
  maxBytes: 12_000,
};

const MAX_SECTION = 3_000;

/** The body in sections: joined by line breaks they are the body. */
function sections(body: string): string[] {
  const found: string[] = [];
  for (const line of body.split('\n')) {
    const last = found.at(-1);
    if (last !== undefined && last.length + 1 + line.length <= MAX_SECTION)
      found[found.length - 1] = `${last}\n${line}`;
    else found.push(line);
  }
  return found;
}
