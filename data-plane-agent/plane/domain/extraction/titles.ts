import { warn, type GivenWarning } from '../../../base/warnings.js';
import type { Readings } from './candidates.js';
import type { Document, Line } from './document.js';
import { oneOf } from './words/one-of.js';

const LEASE = /租赁|回租|租用|lease|leasing|letting|tenancy|rental agreement|hire (?:agreement|contract)|hire purchase/;
const SALE = new RegExp(
  oneOf(
    '买卖',
    'contract (?:of|for)(?: the)?[a-z ]{0,40} sale of goods',
    '销售',
    '采购',
    '购销',
    '供货',
    '购货',
    '订货',
    '(?:purchase and )?sales?(?: and purchase)? (?:contract|agreement|confirmation)',
    'contract (?:of|for) sale',
    'purchase (?:contract|agreement|order)',
    'order (?:confirmation|acknowledge?ment)',
    'supply (?:contract|agreement)',
    'sale agreement',
  ),
);
const CONTRACT = /合同|协议|契约|确认书|contract|agreement|lease|order|confirmation/;

/** Lines at the head of a document in which its title is. */
const HEAD = 20;

/** The title says whether it is a sale or a lease. */
export function readTitle(document: Document, readings: Readings): void {
  for (const [line, { start, end }] of document.lines.slice(0, HEAD).entries()) {
    const text = titleIn(document, { start, end });
    if (text === undefined) continue;
    const match = LEASE.exec(text) ?? SALE.exec(text);
    if (!match) continue;
    readings.add('type', { value: LEASE.test(text) ? 'lease' : 'sale', start, end, confidence: line < 8 ? 0.95 : 0.8 });
    return;
  }
}

function titleIn({ plain }: Document, { start, end }: Pick<Line, 'start' | 'end'>): string | undefined {
  const text = plain
    .slice(start, Math.min(end, start + 90))
    .replaceAll(/(?<=[\u4e00-\u9fff]) +(?=[\u4e00-\u9fff])/g, '')
    .trim();
  return end - start > 80 || !CONTRACT.test(text) || /[。;:]|编号/.test(text) ? undefined : text;
}

/** A line of its own that names a sale or a lease, and no sentence. */
function isTitle(document: Document, line: Line): boolean {
  const text = titleIn(document, line);
  return text !== undefined && text.length <= 60 && !/[,.!?]$/.test(text) && (LEASE.test(text) || SALE.test(text));
}

/**
 * Titles of what is written before, after and around a sale or a lease, and of other contracts. An invoice pro forma is
 * left out: it stands for a sale.
 */
const PAPERS: readonly (readonly [name: string, title: RegExp])[] = [
  ['an invoice', /^(?:(?:tax|commercial|vat|sales) )?invoice(?: no\b.*)?$|^(?:电子|数电|增值税|专用|普通){0,4}发票/],
  [
    'a price list or a quotation',
    /^[^:]{0,24}price list(?![a-z])|^quot(?:e|ation)(?: no\b.*)?$|(?:报价单|报价表|价目表|价格表)$/,
  ],
  ['the minutes of a meeting', /^(?:draft )?minutes(?: of| from|$)|meeting minutes$|会议(?:纪要|记录)$/],
  [
    'a delivery note, a receipt or a statement',
    /^(?:delivery note|packing (?:list|slip)|receipt|statement of account|account statement)$|^[\u4e00-\u9fff]{0,8}(?:送货单|装箱单|收据|对账单)$/,
  ],
  [
    'an invitation to tender',
    /^(?:invitation to (?:bid|tender)|request for (?:proposals?|quotations?)|(?:call for tenders|tender notice))(?![a-z])|(?:招标|采购|询价|中标|磋商)(?:公告|邀请书?|文件)$|^中标通知书$/,
  ],
  [
    'a confidentiality agreement',
    /^(?:[a-z-]+ )?(?:non-?disclosure|confidentiality)(?: [a-z -]{1,30})? agreement$|保密(?:协议|合同|承诺书)书?$/,
  ],
  [
    'a contract of employment',
    /^(?:contract of employment|employment (?:contract|agreement))$|(?:劳动|聘用)(?:合同|协议)书?$/,
  ],
  [
    'a loan or a security for one',
    /^(?:term |bridge )?(?:loan|facility|credit|guarantee|pledge|mortgage) agreement$|(?:借款|贷款|保证|抵押|质押|担保)(?:合同|协议)书?$/,
  ],
  ['an insurance', /^(?:certificate|policy) of insurance$|^insurance (?:certificate|policy)$|保险单$/],
  ['a letter', /^关于[^,。;:]{4,40}的(?:函|通知|请示|报告)$/],
];
const GREETS = /^(?:dear (?!all\b)[a-z]|尊敬的)/;
const MAILS = /^(?:from|发件人): /;
const MAILED = /^(?:to|subject|sent|收件人|主题): /;
const CLOSES = /^(?:yours |sincerely|(?:kind|best|warm) regards|此致|敬礼|顺颂商祺)/;
/** Lines at the end of a letter in which it takes leave. */
const FOOT = 15;

/** What the document says that it is, where that is neither a sale nor a lease nor any other contract. */
export function otherPaper(document: Document): string | undefined {
  const { lines, plain } = document;
  for (const line of lines.slice(0, HEAD)) {
    const text = plain
      .slice(line.start, Math.min(line.end, line.start + 90))
      .replaceAll(/(?<=[\u4e00-\u9fff]) +(?=[\u4e00-\u9fff])/g, '')
      .trim();
    const paper = text.length <= 60 ? PAPERS.find(([, title]) => title.test(text)) : undefined;
    if (paper) return isBoundWithContract(document) ? undefined : paper[0];
    if (titleIn(document, line) !== undefined) break;
  }
  const says = (part: readonly Line[], words: RegExp) =>
    part.some(({ start, end }) => words.test(plain.slice(start, Math.min(end, start + 40)).trim()));
  // A contract may be written as a letter; what a letter says of one is no title.
  if (lines.slice(0, HEAD).some((line) => isTitle(document, line))) return undefined;
  if (says(lines.slice(0, 4), MAILS) && says(lines.slice(0, 8), MAILED)) return 'an e-mail';
  return says(lines.slice(0, HEAD), GREETS) && says(lines.slice(-FOOT), CLOSES) ? 'a letter' : undefined;
}

/** Behind an offer or an invoice may come the contract itself: a page that begins with its title. */
function isBoundWithContract(document: Document): boolean {
  const { lines, pageStarts } = document;
  return pageStarts.slice(1, MAX_PAGES).some((pageStart) => {
    const first = lines.findIndex(({ start }) => start >= pageStart);
    return first >= 0 && lines.slice(first, first + 5).some((line) => isTitle(document, line));
  });
}

const MAX_PAGES = 50;

/** What any paper may name: between whom, about which contract. Its days, sums and things are its own. */
const OF_ANY_PAPER: ReadonlySet<string> = new Set(['contractNo', 'archiveCode', 'projectName', 'partyA', 'partyB']);

/** Of another paper little is kept, and none of it is sure. */
export function keepOfOtherPaper(paper: string, readings: Readings): GivenWarning {
  readings.keep(OF_ANY_PAPER, { doubt: 'OTHER_DOCUMENT', from: 0.9, most: 0.55 });
  return warn('OTHER_DOCUMENT', {
    message: `By its title or its form this is ${paper}, and neither a sale nor a lease: what it says of days, sums and things was not read.`,
  });
}
