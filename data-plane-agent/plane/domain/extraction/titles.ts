import { warn, type GivenWarning } from '../../../base/warnings.js';
import type { Readings } from './candidates.js';
import type { Document, Line } from './document.js';
import { readCode, type Labelled } from './values.js';
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

/** The number of lines at the start of a document that may contain its title. */
const HEAD = 20;

/** Reads from the title whether the contract is a sale or a lease. */
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

const NUMBER = /^[\s>*#]*(?:no|nr|number)(?:\. ?:?|:| ) ?(?=[a-z\d])/;

/** A line `No.: RA-3` directly before or after the title contains the number of the contract. */
export function readTitleNumber(document: Labelled, readings: Readings): void {
  const { lines, plain } = document;
  const title = lines.slice(0, HEAD).findIndex((line) => isTitle(document, line));
  if (title < 0) return;
  for (const line of lines.slice(Math.max(0, title - 2), title + 3)) {
    const label = NUMBER.exec(plain.slice(line.start, Math.min(line.end, line.start + 60)));
    const code = label && readCode(document, line.start + label[0].length);
    if (code) return readings.add('contractNo', { ...code, confidence: 0.7 });
  }
}

/** Whether a line is the title of a sale or a lease, and not part of a sentence. */
function isTitle(document: Document, line: Line): boolean {
  const text = titleIn(document, line);
  return text !== undefined && text.length <= 60 && !/[,.!?]$/.test(text) && (LEASE.test(text) || SALE.test(text));
}

/**
 * Titles of documents related to a sale or a lease, and of other kinds of contracts. Pro forma invoices are not
 * included, since they serve as sales contracts.
 */
const OTHER_DOCUMENTS: readonly (readonly [name: string, title: RegExp])[] = [
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
/** Services are neither sold nor leased goods; a title such as `Supply and Service Agreement` is that of a sale. */
const SERVICES =
  /(?:^| )(?:services?|maintenance|support|consult(?:ing|ancy)|consultant|advisory|subscription|outsourcing|service level) (?:contract|agreement)$|^(?:contract|agreement) for (?:the )?(?:provision of )?(?:[a-z]+ ){0,4}services$|(?:服务|维护|维修|维保|保养|咨询|顾问|开发|运输|仓储|保管|承揽|外包)(?:合同|协议)书?$/;
const OF_GOODS =
  /suppl|sale|sell|purchas|leas|rent|hire|goods|equipment and|供货|供应|采购|购|买|销|售|租|设备[及和与]/;
/** The parties of a sale or a lease, in the first part of a document. */
const SELLS =
  /卖方|买方|出卖人|买受人|出租[人方]|承租[人方]|(?<![a-z])(?:seller|buyer|purchaser|lessor|lessee|hirer)(?![a-z])/;
const FIRST_PART = 3_000;

const isOfServices = (title: string, { plain }: Document): boolean =>
  SERVICES.test(title) && !OF_GOODS.test(title) && !SELLS.test(plain.slice(0, FIRST_PART));

const GREETS = /^(?:dear (?!all\b)[a-z]|尊敬的)/;
const MAILS = /^(?:from|发件人): /;
const MAILED = /^(?:to|subject|sent|收件人|主题): /;
const CLOSES = /^(?:yours |sincerely|(?:kind|best|warm) regards|此致|敬礼|顺颂商祺)/;
/** The number of lines at the end of a letter that may contain its closing. */
const FOOT = 15;

/** The kind of a document that is neither a sale nor a lease, by its title or form; otherwise `undefined`. */
export function otherDocument(document: Document): string | undefined {
  const { lines, plain } = document;
  for (const line of lines.slice(0, HEAD)) {
    const text = plain
      .slice(line.start, Math.min(line.end, line.start + 90))
      .replaceAll(/(?<=[\u4e00-\u9fff]) +(?=[\u4e00-\u9fff])/g, '')
      .trim();
    const match = text.length <= 60 ? OTHER_DOCUMENTS.find(([, title]) => title.test(text)) : undefined;
    const name =
      match?.[0] ?? (text.length <= 60 && isOfServices(text, document) ? 'a contract for services' : undefined);
    if (name !== undefined) return isBoundWithContract(document) ? undefined : name;
    if (titleIn(document, line) !== undefined) break;
  }
  const says = (part: readonly Line[], words: RegExp) =>
    part.some(({ start, end }) => words.test(plain.slice(start, Math.min(end, start + 40)).trim()));
  // A contract may be written as a letter, so its title takes precedence.
  if (lines.slice(0, HEAD).some((line) => isTitle(document, line))) return undefined;
  if (says(lines.slice(0, 4), MAILS) && says(lines.slice(0, 8), MAILED)) return 'an e-mail';
  return says(lines.slice(0, HEAD), GREETS) && says(lines.slice(-FOOT), CLOSES) ? 'a letter' : undefined;
}

/** Whether a later page begins with the title of a contract, as when it is bound with an offer or an invoice. */
function isBoundWithContract(document: Document): boolean {
  const { lines, pageStarts } = document;
  return pageStarts.slice(1, MAX_PAGES).some((pageStart) => {
    const first = lines.findIndex(({ start }) => start >= pageStart);
    return first >= 0 && lines.slice(first, first + 5).some((line) => isTitle(document, line));
  });
}

const MAX_PAGES = 50;

/**
 * Fields that may be read from any document: the parties and the contract referred to. Its other data is not that of
 * the contract.
 */
const OF_ANY_DOCUMENT: ReadonlySet<string> = new Set(['contractNo', 'archiveCode', 'projectName', 'partyA', 'partyB']);

/** Keeps only these fields, with low confidence, and returns a warning. */
export function keepOfOtherDocument(name: string, readings: Readings): GivenWarning {
  readings.keep(OF_ANY_DOCUMENT, { doubt: 'OTHER_DOCUMENT', from: 0.9, most: 0.55 });
  return warn('OTHER_DOCUMENT', {
    message: `By its title or form this is ${name}, and neither a sale nor a lease: its dates, amounts and items were not read.`,
  });
}
