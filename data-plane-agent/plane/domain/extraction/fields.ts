import { currencyOf, findAmounts, readAmount } from './amounts.js';
import type { Readings } from './candidates.js';
import { findDay } from './dates.js';
import { lineAt, lineSpan, rawText, trimmed, type Span } from './document.js';
import type { LabelHit, Parting } from './label-hits.js';
import type { Announced } from './labels.js';
import { meansIn } from './means.js';
import { sideAt, type Roles } from './parties.js';
import { readSpan } from './periods.js';
import { isPlan } from './stages.js';
import { hintOf, type Table } from './tables.js';
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

/** How sure a value is by what parts it from its label. */
const BY_PARTING: Readonly<Record<Parting, number>> = {
  colon: 0.96,
  cell: 0.95,
  verb: 0.88,
  gap: 0.85,
  line: 0.84,
  none: 0.8,
};
/** Readings of one field that are looked at. */
const MOST = 60;

interface Passage {
  readonly document: Labelled;
  readonly hit: LabelHit;
  /** Where the value begins. */
  readonly at: number;
  readonly confidence: number;
  readonly readings: Readings;
  readonly roles: Roles;
}

/** Labels between two pauses. */
const STEP = 500;

/** Reads what stands behind labels outside of tables. Yields where it may pause. */
export function* readFields(
  document: Labelled,
  {
    tables,
    roles,
    readings,
  }: { readonly tables: readonly Table[]; readonly roles: Roles; readonly readings: Readings },
): Generator<undefined, void> {
  const looked = new Map<Announced, number>();
  for (const [i, hit] of document.hits.entries()) {
    if (i % STEP === STEP - 1) yield;
    if (tables.some(({ start, end }) => hit.start >= start && hit.start < end)) continue;
    for (const { announced, weight } of hit.meanings) {
      const read = READERS[announced];
      const count = looked.get(announced) ?? 0;
      if (
        !read ||
        count >= MOST ||
        (weight < 1 && !hit.leads && hit.parting !== 'colon' && !MONEY.has(announced) && !isNumbered(document, hit))
      )
        continue;
      const under = hit.parting === 'line' ? lineBelow(document, hit) : hit.valueAt;
      const at = under === undefined ? undefined : pastBoxes(document, under);
      if (at === undefined) continue;
      looked.set(announced, count + 1);
      read({
        document,
        hit,
        at,
        confidence: BY_PARTING[hit.parting] * weight * (hit.leads || hit.parting !== 'colon' ? 1 : 0.97),
        readings,
        roles,
      });
    }
  }
}

/** `Account No. 12 345`: the label itself says that a number follows. */
const isNumbered = ({ plain }: Labelled, { start, end }: LabelHit): boolean =>
  /(?:account|a\/c) (?:no|number)$|账号$|^iban$/.test(plain.slice(start, end));

/** A value under its label, where the label stands alone and no other follows. */
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

/** A date at the head of a contract is the day on which it was made. */
const HEADER = 1_500;

const MONEY: ReadonlySet<Announced> = new Set(['totalAmount', 'totalRent', 'periodicRent', 'deposit', 'unitPrice']);
const isNear = ({ hit }: Passage): boolean => hit.parting !== 'none' && hit.parting !== 'verb';

/** `Item` and `名称` head columns; in a cell they announce nothing by themselves. */
const isHead = ({ hit, document }: Passage): boolean =>
  hit.parting === 'cell' &&
  /^(?:item|item description|description|名称|设备|货物|产品|标的)$/.test(document.plain.slice(hit.start, hit.end));

const READERS: Partial<Readonly<Record<Announced, (place: Passage) => void>>> = {
  contractNo: (place) =>
    addText(
      place,
      'contractNo',
      isNear(place) || /no|号/.test(label(place)) ? readCode(place.document, place.at) : undefined,
    ),
  archiveCode: (place) => addText(place, 'archiveCode', isNear(place) ? readCode(place.document, place.at) : undefined),
  projectName: (place) =>
    addText(place, 'projectName', isNear(place) ? readName(place.document, place.at, { commas: true }) : undefined),
  equipmentName: (place) =>
    addWithCount(
      place,
      'equipmentName',
      (isNear(place) && !isHead(place)) || (place.hit.parting === 'verb' && !isDuty(place))
        ? thing(readName(place.document, place.at, { commas: PREMISES.test(label(place)) }))
        : undefined,
    ),
  equipmentModel: (place) =>
    addWithCount(
      place,
      'equipmentModel',
      label(place) === 'type'
        ? undefined
        : isNear(place) || place.hit.parting === 'verb'
          ? thing(readName(place.document, place.at))
          : besides(place),
    ),
  paymentMethod: (place) =>
    addMethod(
      place,
      isNear(place) || place.hit.parting === 'verb'
        ? unnumbered(place, readSentence(place.document, place.at))
        : undefined,
    ),
  paymentCycle: (place) =>
    addText(
      place,
      'paymentCycle',
      isNear(place) || place.hit.parting === 'verb'
        ? unnumbered(place, readSentence(place.document, place.at, 120))
        : undefined,
    ),
  remark: (place) =>
    addText(
      place,
      'remark',
      isNear(place) && place.hit.leads ? readSentence(place.document, place.at, 2_000) : undefined,
    ),
  payeeBank: (place) =>
    payee(place, 'payeeBank', isNear(place) ? bankIn(readName(place.document, place.at, { commas: true })) : undefined),
  payeeAccount: (place) => payee(place, 'payeeAccount', readAccount(place.document, place.at)),
  quantity: readQuantity,
  unitPrice: (place) => addAmount(place, 'unitPrice'),
  // In a lease the rent in all is the total; what the thing itself cost is not.
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
      span: { start: hit.parting === 'line' ? at : hit.end, end: Math.min(cellEnd(document, at), at + 240) },
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

/** An address has commas in it. */
const PREMISES = /premises|property|房屋|坐落/;

/** `规格型号及数量：CX104-5 壹台` says both; the digits of a model are not those of a count, unless something parts them. */
const COUNTED = {
  equipmentModel: /^(.*?\S)[\s,，;、×*]+(\S{1,6}[台套辆件个部架]|\d{1,4} ?(?:units?|sets?))$/i,
  equipmentName:
    /^(.*?[^\s\d,，;、×*])[\s,，;、×*]*((?:\d{1,6}|[一二两三四五六七八九十壹贰叁肆伍陆柒捌玖拾]{1,3}) ?[台套辆件个部架组座]|\d{1,4} ?(?:units?|sets?))$/i,
} as const;

function addWithCount(place: Passage, key: keyof typeof COUNTED, text: ReadText | undefined): void {
  const both =
    text && /数量|quantity/.test(label(place))
      ? COUNTED[key].exec(place.document.plain.slice(text.start, text.end))
      : null;
  if (!text || !both) return addText(place, key, text);
  const [all, named = '', amount = ''] = both;
  addText(place, key, {
    start: text.start,
    end: text.start + named.length,
    value: rawText(place.document, { start: text.start, end: text.start + named.length }),
  });
  const count = readCount(place.document, text.start + all.lastIndexOf(amount));
  if (count)
    place.readings.add('quantity', {
      value: count.value,
      start: count.start,
      end: count.end,
      confidence: place.confidence,
    });
}

const isLease = ({ readings }: Passage): boolean => readings.best('type')?.value === 'lease';

const label = ({ document, hit }: Passage): string => document.plain.slice(hit.start, hit.end);

function addText({ readings, confidence }: Passage, key: string, text: ReadText | undefined): void {
  // A text that goes on for long is more likely a clause than a value.
  if (text)
    readings.add(key, {
      ...text,
      confidence: text.value.length > 160 && key !== 'remark' ? confidence * 0.85 : confidence,
    });
}

/**
 * Under `付款方式` and `payment terms` often stands a plan: `T/T, 30% upon signing, 70% upon delivery`. Its parts are
 * payment lines; the method is the means that it names. The whole stays a reading, and the field's where no means is
 * named, but is not sure.
 */
function addMethod(place: Passage, text: ReadText | undefined): void {
  const { document, readings, confidence } = place;
  if (!text || !isPlan(document, text)) return addText(place, 'paymentMethod', text);
  const means = meansIn(document.plain.slice(text.start, text.end));
  const span = means && { start: text.start + means.at, end: text.start + means.at + means.length };
  if (span) readings.add('paymentMethod', { ...span, value: rawText(document, span), confidence });
  readings.add('paymentMethod', { ...text, confidence: Math.min(confidence, 0.55), doubts: ['A_PLAN'] });
}

/** What shall be, is what is to be done with the thing, and not its name. */
const isDuty = ({ document, hit }: Passage): boolean =>
  /(?:shall|will) be/.test(document.plain.slice(hit.end, hit.valueAt));

/** `塔式起重机，型号QTZ80`: after a comma, and a code. */
const besides = ({ document, hit, at }: Passage): ReadText | undefined =>
  /[,，、] ?$/.test(document.plain.slice(hit.start - 2, hit.start)) && at - hit.end <= 1
    ? readCode(document, at)
    : undefined;

/** A thing is named, not described: what reads like a clause is none. */
const thing = (text: ReadText | undefined): ReadText | undefined =>
  text && !NO_THING.test(text.value) ? text : undefined;

/** Under the heading `付款方式` often stands a list of stages, and no method. */
const unnumbered = ({ hit, document }: Passage, text: ReadText | undefined): ReadText | undefined =>
  text &&
  !/^(?:如下|按(?:以下|下列)|as follows|the following|见)/i.test(text.value) &&
  !(
    hit.parting === 'line' &&
    /^[\s(]*(?:\d{1,2}|[一二三四五六七八九十])[).、]/.test(
      document.plain.slice(text.start - 4 < 0 ? 0 : lineSpan(document, lineAt(document, text.start)).start, text.end),
    )
  )
    ? text
    : undefined;

/** `Bank details: IBAN DE89 …` names no bank. */
const bankIn = (text: ReadText | undefined): ReadText | undefined =>
  text && !/^(?:iban|account|a\/c|bic|swift|sort code|\d)/i.test(text.value) ? text : undefined;

/** Bank and account are the payee's: those of the side that pays are left aside. */
function payee(place: Passage, key: 'payeeBank' | 'payeeAccount', text: ReadText | undefined): void {
  if (!text) return;
  const { document, hit, confidence, readings, roles } = place;
  const isPayees = hit.meanings.some(({ announced, weight }) => announced === key && weight === 1);
  const side = isPayees ? 'giver' : sideAt(document, hit, roles);
  if (side === 'taker') return;
  readings.add(key, {
    ...text,
    confidence: side === 'giver' ? Math.max(confidence, isPayees ? 0 : 0.92 * (confidence / 0.9)) : confidence * 0.75,
    doubts: side === 'giver' ? [] : ['WHOSE_ACCOUNT'],
  });
}

function readQuantity({ document, hit, at, confidence, readings }: Passage): void {
  const count = readCount(document, at);
  if (!count || ((hit.parting === 'verb' || hit.parting === 'none') && !count.hasUnit)) return;
  readings.add('quantity', { value: count.value, start: count.start, end: count.end, confidence });
}

function addAmount({ document, hit, at, confidence, readings }: Passage, key: string): void {
  const amount =
    readAmount(document, at, hintOf(document, hit.aside)) ??
    (hit.parting === 'none'
      ? amountLater(document, hit)
      : hit.parting === 'verb'
        ? findAmounts(document, {
            from: at,
            to: Math.min(lineSpan(document, lineAt(document, at)).end, at + 32),
            limit: 1,
          })[0]
        : undefined);
  if (!amount) return;
  // In a sentence a number alone may be of anything.
  if (amount.isBare && (hit.parting === 'verb' || hit.parting === 'none' || hit.parting === 'line')) return;
  const isExclusive = /不含|未税|excl|net of/.test(hit.aside);
  // The rent of one is not what is paid for all.
  const isOfOne =
    key === 'periodicRent' &&
    /(?:每台|单台|per unit)[^。;\n]{0,3}$/.test(document.plain.slice(Math.max(0, hit.start - 14), hit.start));
  const sure =
    (isOfOne ? 0.8 : 1) *
    (amount.isBare ? 0.9 : 1) *
    (isExclusive ? 0.75 : 1) *
    (amount.currency && hit.parting === 'none' ? 1.1 : 1);
  readings.addAmount(key, amount, { confidence: confidence * sure });
}

/** `租金：每月人民币叁仟元整`: for how long it is paid stands before how much. */
const pastPeriod = ({ document, at }: Passage): number =>
  at + (/^每个?(?:月|季度?|半年|年|期)(?:租金)?[为:]? ?/.exec(document.plain.slice(at, at + 12))?.[0].length ?? 0);

/** `The total rent over the term is GBP 444,000.00`: in the same sentence, before another label of money. */
function amountLater(document: Labelled, { end }: LabelHit) {
  const sentence = /^[^.;。\n\d%]{1,48}/.exec(document.plain.slice(end, end + 48))?.[0] ?? '';
  const next = document.hits[firstHitFrom(document.hits, end)];
  const until = Math.min(
    end + sentence.length + 30,
    next?.meanings.some(({ announced }) => MONEY.has(announced)) ? next.start : Infinity,
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
  if (hit.parting === 'none') return;
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
      at + (hit.parting === 'colon' || hit.parting === 'cell' || hit.parting === 'line' ? 60 : 32),
    ),
  };
  const day = findDay(document.plain, window.start, window.end);
  if (!day) return;
  // Where the day does not begin the value, it may be that of something else in the sentence.
  const isHeader = key === 'signDate' && hit.start < HEADER;
  const sure = (day.start - at > 14 ? 0.85 : 1) * (isHeader ? 1.15 : 1);
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
