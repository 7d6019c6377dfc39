import { currencyOf, findAmounts, readAmount } from './amounts.js';
import type { Readings } from './candidates.js';
import { countedByLabel, countedName, modelIn } from './counted-names.js';
import { findDay } from './dates.js';
import { lineAt, lineSpan, rawText, trimmed, type Span } from './document.js';
import type { LabelHit, Separation } from './label-hits.js';
import type { LabelKind } from './labels.js';
import { meansIn } from './means.js';
import { sideAt, type Roles } from './parties.js';
import { periodIn, readSpan } from './periods.js';
import { isPlan } from './stages.js';
import { hintOf, type Table } from './tables.js';
import { isOfOneUnit } from './unit-rents.js';
import {
  cellEnd,
  firstHitFrom,
  pastBoxes,
  readAccount,
  readCode,
  readCount,
  readName,
  readPercent,
  readSentence,
  type Labelled,
  type ReadText,
} from './values.js';
import { NO_THING } from './words/goods.js';

/** The confidence of a value by the separator between it and its label. */
const BY_SEPARATION: Readonly<Record<Separation, number>> = {
  colon: 0.96,
  cell: 0.95,
  verb: 0.88,
  gap: 0.85,
  line: 0.84,
  none: 0.8,
};
/** The largest number of labels of one kind that are read. */
const MAX_READ = 60;

interface Passage {
  readonly document: Labelled;
  readonly hit: LabelHit;
  /** The start of the value. */
  readonly at: number;
  readonly confidence: number;
  readonly readings: Readings;
  readonly roles: Roles;
}

/** Labels between two yields. */
const STEP = 500;

/** Reads the values after labels outside of tables. Yields between steps. */
export function* readFields(
  document: Labelled,
  {
    tables,
    roles,
    readings,
  }: { readonly tables: readonly Table[]; readonly roles: Roles; readonly readings: Readings },
): Generator<undefined, void> {
  const looked = new Map<LabelKind, number>();
  for (const [i, hit] of document.hits.entries()) {
    if (i % STEP === STEP - 1) yield;
    if (tables.some(({ start, end }) => hit.start >= start && hit.start < end)) continue;
    for (const { kind, weight } of hit.meanings) {
      const read = READERS[kind];
      const count = looked.get(kind) ?? 0;
      if (
        !read ||
        count >= MAX_READ ||
        (weight < 1 && !hit.leads && hit.separation !== 'colon' && !MONEY.has(kind) && !isNumbered(document, hit))
      )
        continue;
      const under = hit.separation === 'line' ? lineBelow(document, hit) : hit.valueAt;
      const at = under === undefined ? undefined : pastBoxes(document, under);
      if (at === undefined) continue;
      looked.set(kind, count + 1);
      read({
        document,
        hit,
        at,
        confidence: BY_SEPARATION[hit.separation] * weight * (hit.leads || hit.separation !== 'colon' ? 1 : 0.97),
        readings,
        roles,
      });
    }
  }
}

/** Whether the label implies a number: `Account No. 12 345`. */
const isNumbered = ({ plain }: Labelled, { start, end }: LabelHit): boolean =>
  /(?:account|a\/c) (?:no|number)$|账号$|^iban$/.test(plain.slice(start, end));

/** The start of a value below its label, when the label is alone on its line and no other label follows. */
function lineBelow(document: Labelled, hit: LabelHit): number | undefined {
  if (!hit.leads) return undefined;
  const line = lineAt(document, hit.start);
  for (let next = line + 1; next <= line + 2; next++) {
    const { start, end } = trimmed(document, lineSpan(document, next));
    if (start >= end) continue;
    const label = document.hits[firstHitFrom(document.hits, start)];
    return label && label.start < start + 3 && label.start < end ? undefined : start;
  }
  return undefined;
}

/** A date in this first part of a contract is the date of signature. */
const HEADER = 1_500;

const MONEY: ReadonlySet<LabelKind> = new Set(['totalAmount', 'totalRent', 'periodicRent', 'deposit', 'unitPrice']);
/** Whether the value is separated from its label as in a form, and not part of a sentence. */
const isForm = ({ hit }: Passage): boolean => hit.separation !== 'none' && hit.separation !== 'verb';

/** Whether the label is a column header (`Item`, `名称`), which in a cell has no value of its own. */
const isColumnHead = ({ hit, document }: Passage): boolean =>
  hit.separation === 'cell' &&
  /^(?:item|item description|description|名称|设备|货物|产品|标的)$/.test(document.plain.slice(hit.start, hit.end));

const READERS: Partial<Readonly<Record<LabelKind, (place: Passage) => void>>> = {
  contractNo: (place) =>
    addText(
      place,
      'contractNo',
      isForm(place) || /no|号/.test(label(place)) ? readCode(place.document, place.at) : undefined,
    ),
  archiveCode: (place) => addText(place, 'archiveCode', isForm(place) ? readCode(place.document, place.at) : undefined),
  projectName: (place) =>
    addText(place, 'projectName', isForm(place) ? readName(place.document, place.at, { commas: true }) : undefined),
  equipmentName: (place) =>
    addWithCount(
      place,
      'equipmentName',
      (isForm(place) && !isColumnHead(place)) || (place.hit.separation === 'verb' && !isDuty(place))
        ? itemName(readName(place.document, place.at, { commas: PREMISES.test(label(place)) }))
        : undefined,
    ),
  equipmentModel: (place) =>
    addWithCount(
      place,
      'equipmentModel',
      label(place) === 'type'
        ? undefined
        : isForm(place) || place.hit.separation === 'verb'
          ? itemName(readName(place.document, place.at))
          : besides(place),
    ),
  paymentMethod: (place) =>
    addMethod(
      place,
      isForm(place) || place.hit.separation === 'verb'
        ? unnumbered(place, readSentence(place.document, place.at))
        : undefined,
    ),
  paymentCycle: (place) =>
    addText(
      place,
      'paymentCycle',
      isForm(place) || place.hit.separation === 'verb'
        ? cycleIn(place, unnumbered(place, readSentence(place.document, place.at, 120)))
        : undefined,
    ),
  remark: (place) =>
    addText(
      place,
      'remark',
      isForm(place) && place.hit.leads ? readSentence(place.document, place.at, 2_000) : undefined,
    ),
  payeeBank: (place) =>
    payee(place, 'payeeBank', isForm(place) ? bankIn(readName(place.document, place.at, { commas: true })) : undefined),
  payeeAccount: (place) => payee(place, 'payeeAccount', readAccount(place.document, place.at)),
  quantity: readQuantity,
  unitPrice: (place) => addAmount(place, 'unitPrice'),
  // In a lease, the total rent is the total amount, and not the price of the leased item.
  totalAmount: (place) =>
    addAmount(isLease(place) ? { ...place, confidence: place.confidence * 0.88 } : place, 'totalAmount'),
  totalRent: (place) => addAmount(place, 'totalAmount'),
  deposit: (place) => addAmount(place, 'deposit'),
  periodicRent: (place) => addAmount({ ...place, at: pastPeriod(place) }, 'periodicRent'),
  currencyCode: readCurrency,
  signDate: (place) => addDay(place, 'signDate'),
  startDate: (place) => addDay(place, 'startDate'),
  endDate: (place) => addDay(place, 'endDate'),
  term: ({ document, hit, at, confidence, readings }) =>
    readSpan(document, {
      span: { start: hit.separation === 'line' ? at : hit.end, end: Math.min(cellEnd(document, at), at + 240) },
      confidence: confidence * 0.98,
      readings,
    }),
  invoicePoints: ({ document, at, confidence, readings }) => {
    const percent = readPercent(document, at);
    if (percent) readings.add('invoicePoints', { ...percent, confidence });
  },
  type: ({ document, at, confidence, readings }) => {
    const match = /^[^\n|;,。]{0,12}?(融资租赁|租赁|lease|rental|hire|买卖|销售|采购|购销|sales?|purchase|supply)/.exec(
      document.plain.slice(at, at + 40),
    );
    if (match?.[1])
      readings.add('type', {
        value: /租|lease|rent|hire/.test(match[1]) ? 'lease' : 'sale',
        start: at,
        end: at + match[0].length,
        confidence,
      });
  },
};

/** Addresses may contain commas. */
const PREMISES = /premises|property|房屋|坐落/;

/** A quantity in a name is less certain than one with a label of its own. */
function addWithCount(place: Passage, key: 'equipmentName' | 'equipmentModel', text: ReadText | undefined): void {
  const { document, readings, confidence } = place;
  const labelled = text && /数量|quantity/.test(label(place)) ? countedByLabel(document, key, text) : undefined;
  const counted = labelled ?? (text && key === 'equipmentName' ? countedName(document, text) : undefined);
  const modelled = key === 'equipmentName' ? modelIn(document, counted?.name ?? text) : undefined;
  if (modelled) readings.add('equipmentModel', { ...modelled.model, confidence: confidence * 0.9 });
  addText(place, key, modelled?.name ?? counted?.name ?? text);
  if (counted?.count)
    readings.add('quantity', { ...counted.count, confidence: labelled ? confidence : confidence * 0.9 });
}

const isLease = ({ readings }: Passage): boolean => readings.best('type')?.value === 'lease';

const label = ({ document, hit }: Passage): string => document.plain.slice(hit.start, hit.end);

function addText({ readings, confidence }: Passage, key: string, text: ReadText | undefined): void {
  // A long text is more likely a clause than a value.
  if (text)
    readings.add(key, {
      ...text,
      confidence: text.value.length > 160 && key !== 'remark' ? confidence * 0.85 : confidence,
    });
}

/**
 * A payment method (`付款方式`, `payment terms`) often contains a plan: `T/T, 30% upon signing, 70% upon delivery`. Its
 * parts become payment lines, and the method is the means of payment in it. The whole text stays a candidate with low
 * confidence.
 */
function addMethod(place: Passage, text: ReadText | undefined): void {
  const { document, readings, confidence } = place;
  if (!text || !isPlan(document, text)) return addText(place, 'paymentMethod', text);
  const means = meansIn(document.plain.slice(text.start, text.end));
  const span = means && { start: text.start + means.at, end: text.start + means.at + means.length };
  if (span) readings.add('paymentMethod', { ...span, value: rawText(document, span), confidence });
  readings.add('paymentMethod', { ...text, confidence: Math.min(confidence, 0.55), doubts: ['A_PLAN'] });
}

/** `shall be` after the label describes an obligation and not the name. */
const isDuty = ({ document, hit }: Passage): boolean =>
  /(?:shall|will) be/.test(document.plain.slice(hit.end, hit.valueAt));

/** A code after a comma: `塔式起重机，型号QTZ80`. */
const besides = ({ document, hit, at }: Passage): ReadText | undefined =>
  /[,，、] ?$/.test(document.plain.slice(hit.start - 2, hit.start)) && at - hit.end <= 1
    ? readCode(document, at)
    : undefined;

/** Rejects texts that are part of a clause and not a name. */
const itemName = (text: ReadText | undefined): ReadText | undefined =>
  text && !NO_THING.test(text.value) ? text : undefined;

/** Rejects a list of stages, which often follows the heading `付款方式`. */
const unnumbered = ({ hit, document }: Passage, text: ReadText | undefined): ReadText | undefined =>
  text &&
  !/^(?:如下|按(?:以下|下列)|as follows|the following|见)/i.test(text.value) &&
  !(
    hit.separation === 'line' &&
    /^[\s(]*(?:\d{1,2}|[一二三四五六七八九十])[).、]/.test(
      document.plain.slice(text.start - 4 < 0 ? 0 : lineSpan(document, lineAt(document, text.start)).start, text.end),
    )
  )
    ? text
    : undefined;

/** Rejects a period with dates, and the duration after `rental period`, which is usually the term of the lease. */
const cycleIn = (place: Passage, text: ReadText | undefined): ReadText | undefined =>
  text &&
  !periodIn(place.document, text) &&
  !(
    label(place).endsWith('period') &&
    /^(?:for |from |\d|[a-z-]{3,12} \(\d|(?:one|two|three|four|five|six|nine|ten|twelve) )/i.test(text.value)
  )
    ? text
    : undefined;

/** Rejects texts without the name of a bank: `Bank details: IBAN DE89 …`. */
const bankIn = (text: ReadText | undefined): ReadText | undefined =>
  text && !/^(?:iban|account|a\/c|bic|swift|sort code|\d)/i.test(text.value) ? text : undefined;

/** Bank and account are those of the payee: those of the paying side are ignored. */
function payee(place: Passage, key: 'payeeBank' | 'payeeAccount', text: ReadText | undefined): void {
  if (!text) return;
  const { document, hit, confidence, readings, roles } = place;
  const isPayees = hit.meanings.some(({ kind, weight }) => kind === key && weight === 1);
  const side = isPayees ? 'giver' : sideAt(document, hit, roles);
  if (side === 'taker') return;
  readings.add(key, {
    ...text,
    confidence: side === 'giver' ? Math.max(confidence, isPayees ? 0 : 0.92 * (confidence / 0.9)) : confidence * 0.75,
    doubts: side === 'giver' ? [] : ['WHOSE_ACCOUNT'],
  });
}

function readQuantity(place: Passage): void {
  const { document, hit, at, confidence, readings } = place;
  const count = readCount(document, at);
  const isItem = isQuantityItem(place);
  if (!count || ((hit.separation === 'verb' || hit.separation === 'none') && !count.hasUnit && !isItem)) return;
  readings.add('quantity', { value: count.value, start: count.start, end: count.end, confidence });
}

/** A quantity without a unit in a list: `model GF-500, qty 6`. */
const isQuantityItem = ({ document: { plain }, hit, at }: Passage): boolean =>
  /[,;(] ?$/.test(plain.slice(hit.start - 2, hit.start)) && /^\d{1,4} ?(?:[,;.)\n]|$)/.test(plain.slice(at, at + 7));

function addAmount({ document, hit, at, confidence, readings }: Passage, key: string): void {
  const amount =
    readAmount(document, at, hintOf(document, hit.aside)) ??
    (hit.separation === 'none'
      ? amountLater(document, hit)
      : hit.separation === 'verb'
        ? findAmounts(document, {
            from: at,
            to: Math.min(lineSpan(document, lineAt(document, at)).end, at + 32),
            limit: 1,
          })[0]
        : undefined);
  // The first instalment is not the total: `The price is payable as follows: (a) USD 30,000 …`.
  if (!amount || /as follows|instal|如下/.test(document.plain.slice(hit.end, amount.start))) return;
  // Within a sentence, a number without a currency may not be an amount.
  if (amount.isBare && (hit.separation === 'verb' || hit.separation === 'none' || hit.separation === 'line')) return;
  const isExclusive = /不含|未税|excl|net of/.test(hit.aside);
  const sure =
    (amount.isBare ? 0.9 : 1) * (isExclusive ? 0.75 : 1) * (amount.currency && hit.separation === 'none' ? 1.1 : 1);
  if (key !== 'periodicRent' || !isOfOneUnit(document, hit, amount))
    return readings.addAmount(key, amount, { confidence: confidence * sure });
  // The rent of one unit is not the rent of all units: it has low confidence, unless there is only one.
  const isOnly = readings.best('quantity')?.value === 1;
  readings.addAmount(key, amount, {
    confidence: confidence * sure * (isOnly ? 0.8 : 0.55),
    doubts: isOnly ? [] : ['PER_UNIT'],
  });
}

/** Skips the period before an amount: `租金：每月人民币叁仟元整`. */
const pastPeriod = ({ document, at }: Passage): number =>
  at + (/^每个?(?:月|季度?|半年|年|期)(?:租金)?[为:]? ?/.exec(document.plain.slice(at, at + 12))?.[0].length ?? 0);

/** Finds an amount later in the sentence: `The total rent over the term is GBP 444,000.00`. */
function amountLater(document: Labelled, { end }: LabelHit) {
  const sentence = /^[^.;。\n\d%]{1,48}/.exec(document.plain.slice(end, end + 48))?.[0] ?? '';
  const next = document.hits[firstHitFrom(document.hits, end)];
  const until = Math.min(
    end + sentence.length + 30,
    next?.meanings.some(({ kind }) => MONEY.has(kind)) ? next.start : Infinity,
  );
  const [amount] = / (?:is|of|be|being|equals?|total(?:s|ing)|amount(?:s|ing) to) /.test(`${sentence} `)
    ? findAmounts(document, { from: end, to: until, limit: 1 })
    : [];
  if (amount && amount.start <= end + sentence.length) return amount;
  // `The purchase price payable by the Purchaser … shall be the sum of …`.
  const verb =
    /^[^.;。\n\d%]{0,140}? (?:shall be|will be|is|equals|amounts to)(?: equal to)?(?: the (?:sum|amount|total) of| an amount of)? /.exec(
      document.plain.slice(end, end + 180),
    );
  const later = verb && end + verb[0].length <= until + 140 ? readAmount(document, end + verb[0].length) : undefined;
  return later && !later.isBare ? later : undefined;
}

function readCurrency({ document, hit, at, confidence, readings }: Passage): void {
  if (hit.separation === 'none') return;
  const end = Math.min(cellEnd(document, at), at + 40);
  const word =
    /人民币|美元|美金|欧元|英镑|港[币元]|日[元圆]|新加坡元|renminbi|us dollars?|euros?|[a-z]{3}(?![a-z])/.exec(
      document.plain.slice(at, end),
    );
  const currency = word && currencyOf(word[0], document);
  if (word && currency)
    readings.add('currencyCode', {
      value: currency.code,
      start: at + word.index,
      end: at + word.index + word[0].length,
      confidence,
    });
}

function addDay({ document, hit, at, confidence, readings }: Passage, key: string): void {
  const window: Span = {
    start: at,
    end: Math.min(
      cellEnd(document, at),
      at + (hit.separation === 'colon' || hit.separation === 'cell' || hit.separation === 'line' ? 60 : 32),
    ),
  };
  const day = findDay(document.plain, window.start, window.end);
  if (!day) return;
  // A date that does not begin the value may belong to something else in the sentence.
  const isColumnHeader = key === 'signDate' && hit.start < HEADER;
  const sure = (day.start - at > 14 ? 0.85 : 1) * (isColumnHeader ? 1.15 : 1);
  readings.add(key, {
    value: day.day,
    start: day.start,
    end: day.end,
    confidence: confidence * sure * (day.other ? 0.5 : 1),
    doubts: day.other ? ['DAY_OR_MONTH_FIRST'] : [],
  });
  if (day.other)
    readings.add(key, {
      value: day.other,
      start: day.start,
      end: day.end,
      confidence: confidence * 0.5,
      doubts: ['DAY_OR_MONTH_FIRST'],
    });
}
