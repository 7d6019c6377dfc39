import { rawText, type Document, type Span } from './document.js';
import { readChineseNumber } from './numerals.js';
import { readCount, textOf, type Labelled, type ReadText } from './values.js';
import { oneOf, raw } from './words/one-of.js';

export interface CountedName {
  readonly name: ReadText;
  readonly count: Span & { readonly value: number };
}

/**
 * Splits a name that contains its quantity: `2 台挖掘机`, `Excavator x 3`, `two (2) units of crane`. `undefined` when it
 * contains none, or one of several items.
 */
export function countedName(document: Document, text: Span): CountedName | undefined {
  const said = document.plain.slice(text.start, text.end);
  const parts = countBefore(said) ?? countBehind(said);
  if (!parts) return undefined;
  const [start, end] = [text.start + parts.name.start, text.start + parts.name.end];
  const name = textOf(document, { start, end }, 500);
  const count = { start: text.start + parts.count.start, end: text.start + parts.count.end };
  const counted = document.plain.slice(count.start, count.end);
  const value = Number(/\d+/.exec(counted)?.[0] ?? readChineseNumber(counted, 0)?.value);
  if (!name || !(value >= 1)) return undefined;
  const rest = document.plain.slice(name.start, name.end);
  return isNamed(rest) && !OTHER.test(rest.replaceAll(/\([^)]*\)/g, ' '))
    ? { name, count: { ...count, value } }
    : undefined;
}

const isNamed = (name: string): boolean => /[\u3400-\u9fff]|[a-z]{2}/.test(name);

interface Parts {
  readonly name: Span;
  readonly count: Span;
}

const NUMERAL = '(?:[一二两三四五六七八九十]{1,3}|[壹贰叁肆伍陆柒捌玖拾]{1,3})';
/** `三件套` is a name; `座` is not a unit here, as it often counts seats. */
const UNIT = '(?:台套|[台套辆部架件个组只艘](?!套))';
const UNIT_ENGLISH = raw`(?:units?|sets?|pcs|pieces?|nos)(?![a-z])\.?`;

const BEFORE = new RegExp(
  `^(?:${oneOf(
    raw`((?:\d{1,6}|${NUMERAL}) ?${UNIT})(?![/每])的? ?`,
    raw`((?:[a-z-]{3,12} \()?\d{1,4}\)?) (?:new |used )?${UNIT_ENGLISH} (?:of )?(?:the |an? )?`,
    raw`([a-z-]{3,12} \(\d{1,4}\)) (?=[a-z])`,
    raw`(\d{1,4}) ?[x×*] ?(?=[a-z\u3400-\u9fff]{2})`,
  )})`,
);

/** Words after a number that is part of the name: `3 phase motors`, `2 axle trailers`. */
const MEASURE = oneOf(
  'phase|axles?|stage|wheel|speed|door|seat|seater|way|pole|post|point|cylinder|stroke|core|wire|layer|storey|story|roll|pin|channel|zone|head|drum|ply|row|arm|leg|pass|span|girder',
  'inch|inches|foot|feet|metres?|meters?|miles?|tons?|tonnes?|litres?|liters?|gallons?|hours?|days?|weeks?|months?|years?|volts?|watts?|amps?|bars?|percent|degrees?',
  'mm|cm|km|kg|kw|kva|kv|hp|mw|ft|in|psi|rpm|hz|tpd|tph',
);
/** A small number before a plural: `2 excavators`, `3 tower cranes QTZ-80`; only a model or a bracket may follow. */
const PLURAL = new RegExp(
  raw`^([2-9]|[1-9]\d{1,2}) (?!(?:${MEASURE})(?![a-z]))(?:[a-z]{2,20} ){0,3}[a-z]{2,20}(?<![sui])s(?=$|\.$|[ ,]*\(|,? (?:model|type)(?![a-z])|,? [a-z]{0,6}[- ]?\d[\w.-]*$)(?![^]*(?:,|;|&| and ) ?\d+ [a-z]{3})`,
);

function countBefore(said: string): Parts | undefined {
  const plural = PLURAL.exec(said)?.[1];
  if (plural !== undefined)
    return { name: { start: plural.length, end: said.length }, count: { start: 0, end: plural.length } };
  const match = BEFORE.exec(said);
  const count = match?.slice(1).find((group) => group !== undefined);
  if (!match || count === undefined) return undefined;
  return { name: { start: match[0].length, end: said.length }, count: { start: 0, end: count.length } };
}

const WITH_UNIT = new RegExp(
  raw`(?<![a-wyz\d.-])(?<![a-z\d]x)((?:\d{1,6}|${NUMERAL}) ?${UNIT}|\d{1,4} ?${UNIT_ENGLISH})\)?$`,
);
const TIMES = /(?: ?\(?[×*] ?|(?: \(?|\))x ?)(\d{1,4})\)?$/;

function countBehind(said: string): Parts | undefined {
  const match = WITH_UNIT.exec(said) ?? TIMES.exec(said);
  const count = match?.[1];
  if (!match || count === undefined) return undefined;
  const before = said.slice(0, match.index).replace(/(?:[\s,、:;(×*-]|共计?|数量)+$/, '');
  const name = before.replace(/(?<=[\s)\u3400-\u9fff])x$/, '');
  const start = match.index + match[0].indexOf(count);
  return match[0] !== count && /^[ (]*[x×*]/.test(match[0]) && isDimension(name, match[0])
    ? undefined
    : { name: { start: 0, end: name.length }, count: { start, end: start + count.length } };
}

/** `Steel plate 20 x 300`, `电缆YJV-4×50`; after a code, the sign between blanks is not that of a dimension: `XE-215 x 3`. */
const isDimension = (before: string, sign: string): boolean =>
  /\d ?(?:mm|cm|m|ft|in)?$/.test(before) &&
  (!/^ [x×*] /.test(sign) || /(?:^|[\s×*x])[\d.]+ ?(?:mm|cm|m|ft|in)?$/.test(before));

/** Quantities of further items. */
const OTHER = new RegExp(
  oneOf(
    raw`(?:\d{1,6}|${NUMERAL}) ?[台套辆部架]`,
    raw`\d{1,4} ?(?:units|sets|pcs)(?![a-z])`,
    raw`[ )][x×*] ?\d{1,4}(?![\d.])`,
    raw`\d [x×*] (?=[a-z])`,
  ),
);

/** `规格型号及数量：CX104-5 壹台` contains both. Digits of a model are not a quantity unless a separator precedes them. */
const BY_LABEL = {
  equipmentModel: /^(.*?\S)[\s,，;、×*]+(\S{1,6}[台套辆件个部架]|\d{1,4} ?(?:units?|sets?))$/i,
  equipmentName:
    /^(.*?[^\s\d,，;、×*])[\s,，;、×*]*((?:\d{1,6}|[一二两三四五六七八九十壹贰叁肆伍陆柒捌玖拾]{1,3}) ?[台套辆件个部架组座]|\d{1,4} ?(?:units?|sets?))$/i,
} as const;

/** Splits a text whose label names the quantity too. */
export function countedByLabel(
  document: Labelled,
  key: keyof typeof BY_LABEL,
  text: ReadText,
): { readonly name: ReadText; readonly count: CountedName['count'] | undefined } | undefined {
  const [all, named = '', amount = ''] = BY_LABEL[key].exec(document.plain.slice(text.start, text.end)) ?? [];
  if (all === undefined) return undefined;
  const span = { start: text.start, end: text.start + named.length };
  const count = readCount(document, text.start + all.lastIndexOf(amount));
  return {
    name: { ...span, value: rawText(document, span) },
    count: count && { value: count.value, start: count.start, end: count.end },
  };
}

/** Splits a name whose model follows in brackets: `挖掘机（型号XE-215）`. */
export function modelIn(
  document: Document,
  text: ReadText | undefined,
): { readonly name: ReadText; readonly model: ReadText } | undefined {
  const said = text && document.plain.slice(text.start, text.end);
  const match = said && /^(.{2,60}?) ?\((?:规格型号|型号|model)[ :.]{0,3}([a-z0-9][a-z0-9./-]{1,40})\)$/.exec(said);
  if (!text || !match) return undefined;
  const [all, named = '', code = ''] = match;
  const name = textOf(document, { start: text.start, end: text.start + named.length }, 500);
  const at = text.start + all.lastIndexOf(code);
  const model = textOf(document, { start: at, end: at + code.length }, 100);
  return name && model ? { name, model } : undefined;
}
