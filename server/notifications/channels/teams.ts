import { TWENTY_A_MINUTE, type HttpAdapter } from './adapter.js';
import { byStatus, json } from './answers.js';
import { COMMON_MARKDOWN, markdown, type Dialect } from './markdown.js';

/**
 * The Workflows template "Post to a channel when a webhook request is received":
 * https://support.microsoft.com/office/create-incoming-webhooks-with-workflows-for-microsoft-teams-8ae491c7-0394-4861-ba59-055e33f75498,
 * its message: https://learn.microsoft.com/connectors/teams/#microsoft-teams-webhook, limits (28 KB, four requests a
 * second) and the errors that older connectors answer with status 200:
 * https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using, Markdown of
 * cards: https://learn.microsoft.com/microsoftteams/platform/task-modules-and-cards/cards/cards-format
 */
export const teams: HttpAdapter = {
  transport: 'http',
  digests: true,
  pace: TWENTY_A_MINUTE,
  render: (notice, style) => markdown(notice, style, CARD_MARKDOWN),
  request: ({ subject, body, urgency }, { target }) =>
    json(target, {
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.4',
            msteams: { width: 'Full' },
            body: [
              {
                type: 'TextBlock',
                text: subject,
                weight: 'Bolder',
                size: 'Medium',
                color: COLOURS[urgency],
                wrap: true,
              },
              // A block for each line: clients disagree about line breaks within one.
              ...body.split('\n').map((text) => ({ type: 'TextBlock', text, wrap: true, spacing: 'Small' })),
            ],
          },
        },
      ],
    }),
  verdict: (answer, now) => {
    const verdict = byStatus(answer, now);
    const said = answer.body.toString('utf8');
    if (!verdict.delivered || !/delivery failed with error/i.test(said)) return verdict;
    const status = /HTTP error (\d{3})/.exec(said)?.[1];
    return {
      delivered: false,
      error: `Teams did not deliver the message${status === undefined ? '' : ` (${status})`}`,
      ...(status === '429' ? { retryAfterMs: 60_000 } : {}),
    };
  },
};

const COLOURS = { info: 'Default', warning: 'Warning', urgent: 'Attention' } as const;

// The body is in some 30 blocks of 60 bytes, within 28 KB.
const CARD_MARKDOWN: Dialect = { ...COMMON_MARKDOWN, newline: '\n', maxBytes: 20_000 };
