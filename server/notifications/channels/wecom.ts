import { TWENTY_A_MINUTE, type HttpAdapter } from './adapter.js';
import { byCode, json } from './answers.js';
import { COMMON_MARKDOWN, markdown, type Dialect } from './markdown.js';

/**
 * Group robots: https://developer.work.weixin.qq.com/document/path/91770 (20 messages a minute, 4 096 bytes of
 * Markdown), codes: https://developer.work.weixin.qq.com/document/path/90313
 */
export const wecom: HttpAdapter = {
  transport: 'http',
  digests: true,
  pace: TWENTY_A_MINUTE,
  render: (notice, style) => markdown(notice, style, MARKDOWN),
  request: ({ body }, { target }) => json(target, { msgtype: 'markdown', markdown: { content: body } }),
  verdict: (answer, now) =>
    byCode(answer, now, { codeField: 'errcode', messageField: 'errmsg', waits: { 45009: 60_000 } }),
};

const MARKDOWN: Dialect = {
  ...COMMON_MARKDOWN,
  heading: (text) => `### ${text}`,
  newline: '\n',
  maxBytes: 4_096,
  sizeOf: (body) => Buffer.byteLength(body),
};
