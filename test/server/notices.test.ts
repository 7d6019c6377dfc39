import { expect } from 'chai';
import fc from 'fast-check';
import { marked, type Token } from 'marked';
import type { Rendered } from '../../server/notifications/channels/adapter.js';
import { adapterOf, CHANNEL_KINDS } from '../../server/notifications/channels/index.js';
import { contractLink, safeLink, type Notice, type ReminderStep } from '../../server/notifications/notices/notice.js';
import { NOTICED_AT, noticesOf, reminder, reminderLine } from '../support/notices.js';

const render = (kind: string, notice: Notice, language = 'en'): Rendered =>
  adapterOf(kind).render(notice, { language, productName: 'Duebook' });

describe('the texts of notices', () => {
  it('show a payment line with its exact amounts and what is left, in English and Simplified Chinese', () => {
    const english = render('wecom', reminder({ projectName: 'Crane' }));
    expect(english.subject).to.equal('5 days overdue: HT-2026-001, 12,000.00 CNY from Huayue Construction');
    expect(english.body.split('\n')).to.deep.equal([
      `### ${english.subject}`,
      'A payment is still overdue, and is now brought to the attention of the superior as well.',
      '**Contract:** HT-2026-001',
      '**Project:** Crane',
      '**Customer:** Huayue Construction',
      '**Company:** Harbour Leasing',
      '**Payment:** 2026-03',
      '**Due:** 2026-03-01 (5 days overdue)',
      '**Amount:** 12,345.50 CNY',
      '**Received:** 345.50 CNY',
      '**Outstanding:** 12,000.00 CNY',
      '**Owner:** Li Wei',
      'Please agree on a date with the customer, or record why the payment is on hold.',
      '[Open the contract](https://console.example.com/contracts/0197a000-0000-7000-8000-000000000001)',
    ]);
    for (const language of ['zh', 'zh-CN', 'zh-Hans-SG'])
      expect(render('wecom', reminder(), language).body)
        .to.contain('**未收：** 12,000.00 CNY')
        .and.contain('已逾期 5 天');
    for (const language of ['zh-TW', 'de', 'en-GB'])
      expect(render('wecom', reminder(), language).body).to.contain('**Outstanding:** 12,000.00 CNY');
  });

  it('have no link without one, and never one that could be read as more than a link', () => {
    for (const link of [
      null,
      'javascript:alert(1)',
      'https://a.example/)[x](https://b.example',
      'https://a.example/|x>',
    ])
      for (const kind of ['email', 'slack', 'teams', 'feishu', 'dingtalk', 'wecom'])
        expect(render(kind, reminder({ link })).body, `${kind} ${link}`).not.to.contain('Open the contract');
    expect(contractLink('https://a.example/c/{contractId}?x={contractId}', 'id-1')).to.equal(
      'https://a.example/c/id-1?x=id-1',
    );
    expect(contractLink(undefined, 'id-1')).to.equal(null);
    expect(safeLink('https://a.example/c/1?b=2&c=3#d')).to.equal('https://a.example/c/1?b=2&c=3#d');
  });

  it('have a tone for each step, and name the day in words', () => {
    const steps: [ReminderStep, number, string, string][] = [
      ['pre_due', -7, 'Due in 7 days: ', 'due soon'],
      ['pre_due', -1, 'Due in 1 day: ', 'due soon'],
      ['due_day', 0, 'Due today: ', 'due today'],
      ['overdue_1', 1, '1 day overdue: ', 'is overdue'],
      ['escalated', 8, '8 days overdue: ', 'still overdue'],
      ['final', 90, 'Last reminder, 90 days overdue: ', 'last automatic reminder'],
      ['manual', -3, 'Due in 3 days: ', 'reminder of an open payment'],
    ];
    for (const language of ['en', 'zh-CN']) {
      const all = steps.map(([step, daysOverdue]) => render('slack', reminder({ step, daysOverdue }), language));
      expect(new Set(all.map(({ body }) => body)).size, language).to.equal(steps.length);
    }
    for (const [step, daysOverdue, subject, tone] of steps) {
      const text = render('slack', reminder({ step, daysOverdue }));
      expect(text.subject).to.match(new RegExp(`^${subject}`));
      expect(text.body).to.contain(tone);
    }
  });

  it('add up a digest exactly for each currency, with the decimals of the currency', () => {
    const { subject, body } = render(
      'wecom',
      reminder(
        { outstandingAmount: 0.1 },
        { outstandingAmount: 0.2, contractNo: 'HT-2' },
        { outstandingAmount: 9_000_000_000_000, currencyCode: 'JPY' },
        { outstandingAmount: 9_000_000_000_000, currencyCode: 'JPY' },
        { outstandingAmount: 1.005, currencyCode: 'KWD', daysOverdue: -1 },
      ),
    );
    expect(subject).to.equal('Reminder: 5 open payments, 0.30 CNY; 18,000,000,000,000 JPY; 1.005 KWD outstanding');
    expect(body)
      .to.contain('**Total outstanding: 0.30 CNY**\n**Total outstanding: 18,000,000,000,000 JPY**')
      .and.contain('· Huayue Construction · 2026-03 · 0.20 CNY · due 2026-03-01, 5 days overdue')
      .and.contain('1.005 KWD · due 2026-03-01, due in 1 day');
  });

  it('are the same bytes whenever the same notice is rendered', () => {
    for (const kind of CHANNEL_KINDS)
      for (const notice of noticesOf('Quay'))
        expect(render(kind, notice)).to.deep.equal(render(kind, structuredClone(notice)));
  });

  it('fit into the limit of each platform: values are cut, then links and lines are left out; totals stay', () => {
    const longest = Array.from({ length: 20 }, (_, index) =>
      reminderLine({
        contractNo: `${index + 1}-${'合'.repeat(97)}`,
        projectName: '项'.repeat(500),
        partyA: '客'.repeat(500),
        period: '期'.repeat(500),
        link: `https://console.example.com/${'x'.repeat(300)}`,
      }),
    );
    const wecom = render('wecom', { type: 'reminder', lines: longest, at: NOTICED_AT }, 'zh-CN').body;
    expect(Buffer.byteLength(wecom)).to.be.lessThanOrEqual(4_096);
    expect(wecom)
      .to.match(/……另有 \d+ 笔/)
      .and.contain('未收合计：240,000.00 CNY')
      .and.contain('客…');
    const limits = { slack: 12_000, teams: 20_000, feishu: 18_000, dingtalk: 18_000, wecom: 4_096 };
    const huge = '𠮷&"\\'.repeat(5_000);
    for (const [kind, limit] of Object.entries(limits))
      for (const notice of [
        ...noticesOf(huge),
        reminder(...longest),
        reminder(...longest.map((each) => ({ ...each, partyA: huge }))),
      ]) {
        const { subject, body } = render(kind, notice);
        expect(Buffer.byteLength(body), `${kind} ${notice.type}`).to.be.lessThanOrEqual(limit);
        expect(Buffer.byteLength(subject)).to.be.lessThanOrEqual(150);
        expect(body)
          .to.contain('…')
          .and.satisfy((text: string) => text.isWellFormed());
      }
  });
});

/** The text and the markup of a Markdown document, by an implementation of GitHub's and the CommonMark rules. */
function readMarkdown(body: string): { text: string; markup: string[]; links: string[] } {
  const found = { text: '', markup: [] as string[], links: [] as string[] };
  const visit = (tokens: readonly Token[]): void => {
    for (const token of tokens) {
      const inner = 'tokens' in token ? token.tokens : undefined;
      if (token.type === 'link') found.links.push(String((token as { href: string }).href));
      if (!['paragraph', 'text', 'space'].includes(token.type)) found.markup.push(token.type);
      if (inner) visit(inner);
      else if ('text' in token) found.text += String(token.text);
    }
  };
  visit(marked.lexer(body, { gfm: true }));
  return found;
}

const HOSTILE = [
  '@all @everyone @channel @here <!channel> <!here> <@U123> <@all> <at user_id="all">x</at> <at id=all></at>',
  '[click](https://evil.example) ![x](https://evil.example/p.png) <https://evil.example|click> <https://evil.example>',
  'https://evil.example www.evil.example WWW.evil.example mailto:a@evil.example javascript:alert(1) a@evil.example',
  '**bold** __bold__ *i* _i_ ~~s~~ `c` ```c``` # h\n# h\n> q\n- l\n1. l\n| a | b |\n|---|---|\n---\n===',
  '<font color="warning">x</font> <script>alert(1)</script> <img src=x onerror=alert(1)> &lt;@all&gt; &#64;all &#x5b;',
  ':warning: :100: :+1: {{DATE(2017-02-14T06:08:39Z,SHORT)}} @{triggerBody()} \\[x](y) \\',
  '\u202eevil\u202c\u0000\u001b[31m\r\n\u2028x',
];
const FRAGMENTS = HOSTILE.flatMap((text) => [text, ...text.split(' ')]);
const anyText = fc
  .array(fc.oneof(fc.constantFrom(...FRAGMENTS), fc.string({ unit: 'binary', maxLength: 12 })), { maxLength: 6 })
  .map((parts) => `x${parts.join(' ')}`);

describe('a text of contract data', () => {
  const chats = ['slack', 'teams', 'feishu', 'dingtalk', 'wecom'];
  /** With a value that has no special characters: the markup of our own wording. */
  const plain = noticesOf('xQuay');

  const check = (text: string): void => {
    noticesOf(text).forEach((notice, index) => {
      const benign = plain[index];
      if (!benign) throw new Error('there is a benign notice for each');
      for (const kind of chats) {
        const { subject, body } = render(kind, notice);
        const expected = render(kind, benign);
        expect(subject, `${kind} subject`).to.match(/^[^\n<>&@[\]*_`~\\{}|]*$/);
        expect(body.split('\n'), `${kind} lines`).to.have.length(expected.body.split('\n').length);
        if (kind === 'slack') {
          const links = /<https:\/\/console\.example\.com\/[^|<>]*\|[^<>|]*>/g;
          const unlinked = body.replaceAll(links, '');
          expect(body.match(links)?.length ?? 0).to.equal(expected.body.match(links)?.length ?? 0);
          expect(unlinked, 'no tag, mention or entity of its own').to.match(/^(?:[^<>&]|&(?:amp|lt|gt);)*$/);
          expect(unlinked.replaceAll(/^\*[^*\n]*\*/gm, ''), 'no style').not.to.match(/[*_~`]|:[a-z+]|@|:\/\//i);
        } else {
          const [read, wanted] = [readMarkdown(body), readMarkdown(expected.body)];
          expect(read.markup, `${kind} markup`).to.deep.equal(wanted.markup);
          expect(read.links).to.deep.equal(wanted.links);
          expect(body.replaceAll(/\]\([^)]*\)/g, ''), `${kind} mentions and emoji`).not.to.match(
            /[<>&@{}`_~\\|]|:[a-z+]|:100:|:\/\//i,
          );
        }
      }
      const { subject, body, text: mail = '' } = render('email', notice);
      const wanted = render('email', benign);
      const tags = (html: string) => html.match(/<[^>]*>/g);
      expect(tags(body)).to.deep.equal(tags(wanted.body));
      expect(subject).not.to.match(/[\p{Cc}\u202a-\u202e]/u);
      expect(mail.split('\n'), 'lines of a mail').to.have.length((wanted.text ?? '').split('\n').length);
      for (const part of [body, mail])
        expect(part.replaceAll('https://console.example.com/', '')).not.to.match(/:\/\/|\bwww\.|mailto:|javascript:/i);
    });
  };

  it('yields no markup, no link and no mention in any adapter', function property() {
    for (const text of HOSTILE) check(`x${text}`);
    fc.assert(fc.property(anyText, check), { numRuns: 60 });
  });

  it('reaches webhooks as it is', () => {
    const [text = ''] = HOSTILE;
    const { body } = render('webhook', reminder({ projectName: text }));
    expect((JSON.parse(body) as { data: { projectName: string } }).data.projectName).to.equal(text);
  });
});
