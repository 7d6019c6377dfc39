import { warn } from '../../../base/warnings.js';
import type { Call } from '../../contract/call.js';
import type { Warning } from '../../contract/records/common.js';
import type { ExtractionRun, ExtractionRunField } from '../../contract/records/extraction.js';
import { iso } from '../../../base/instants.js';
import { isAccountField, masked } from '../sensitive.js';
import { CONTRACT_COLUMNS, LINE_COLUMNS } from '../sheet/columns.js';
import type { ExtractedField } from '../../tables/extractions.js';
import { byPlace, placeOf } from './keys.js';
import type { ExtractionRunRow, FieldReviewRow, ReviewRow } from '../../tables/extractions.js';

export interface RunParts {
  readonly row: ExtractionRunRow;
  readonly fieldReviews: ReadonlyMap<string, FieldReviewRow>;
  readonly reviews: readonly ReviewRow[];
  /** The custom fields that the reader may see. */
  readonly customFields: ReadonlySet<string>;
}

/**
 * A run for one reader: account numbers are masked without `sensitive_data`. `warnings` are those of this answer only.
 */
export function runAnswer(
  { row, fieldReviews, reviews, customFields }: RunParts,
  { rights, language }: Pick<Call, 'rights' | 'language'>,
  warnings: readonly Warning[] = [],
): ExtractionRun {
  const found = new Map(row.fields.map((field) => [field.fieldKey, field]));
  const keys = [...new Set([...found.keys(), ...fieldReviews.keys()])].toSorted(byPlace);
  const locale = language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
  const { id, contractId, status, sourceKind, fileId, fileName, engineName, engineVersion, missingFields, createdBy } =
    row;
  return {
    id,
    contractId,
    status,
    source: { kind: sourceKind, fileId, fileName },
    engine: { name: engineName, version: engineVersion },
    overallConfidence: row.overallConfidence / 100,
    fields: keys.map((key) => {
      const answer = fieldAnswer(key, {
        found: found.get(key),
        review: fieldReviews.get(key),
        label: labelOf(key, locale),
        customFields,
      });
      if (rights.sensitive) return answer;
      return isAccountField(key)
        ? maskedField(answer)
        : key === 'payments'
          ? { ...answer, overrideValue: maskedLines(answer.overrideValue) }
          : answer;
    }),
    missingFields: [...missingFields],
    warnings: [...row.warnings, ...warnings],
    reviews: reviews.map(({ createdAt, actorId, actorName, applied, fields, metadata }) => ({
      at: iso(createdAt),
      by: actorId,
      byName: actorName,
      applied,
      fields: fields.map(({ fieldKey, status: as }) => ({ fieldKey, status: as })),
      metadata,
    })),
    createdBy,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

interface FieldParts {
  readonly found: ExtractedField | undefined;
  readonly review: FieldReviewRow | undefined;
  readonly label: string;
  readonly customFields: ReadonlySet<string>;
}

function fieldAnswer(fieldKey: string, { found, review, label, customFields }: FieldParts): ExtractionRunField {
  const override = review?.status === 'overridden' ? review.overrideValue : null;
  return {
    fieldKey,
    label,
    value: found?.value ?? null,
    rawText: found?.rawText ?? null,
    confidence: found?.confidence ?? 0,
    band: bandOf(found?.confidence ?? 0),
    location: found?.location ?? null,
    candidates: (found?.candidates ?? []).map(({ value, rawText, confidence, location }) => ({
      value,
      rawText,
      confidence,
      location,
    })),
    reviewStatus: review?.status ?? 'pending',
    overrideValue: fieldKey === 'dynamicFields' ? visibleValues(override, customFields) : override,
    reviewedBy: review?.reviewedBy ?? null,
    reviewedAt: review ? iso(review.reviewedAt) : null,
    warnings: (found?.doubts ?? []).map((code) => warn(code, {})),
  };
}

export const bandOf = (confidence: number): ExtractionRunField['band'] =>
  confidence >= 0.9 ? 'high' : confidence >= 0.6 ? 'medium' : 'low';

const maskedField = (field: ExtractionRunField): ExtractionRunField => ({
  ...field,
  value: maskedValue(field.value),
  rawText: field.rawText === null ? null : masked(field.rawText),
  candidates: field.candidates.map((candidate) => ({
    ...candidate,
    value: maskedValue(candidate.value),
    rawText: masked(candidate.rawText),
  })),
  overrideValue: maskedValue(field.overrideValue),
});

const maskedValue = (value: unknown): unknown => (typeof value === 'string' ? masked(value) : value);

/** Payment lines entered in a review, with masked account numbers. */
const maskedLines = (lines: unknown): unknown =>
  Array.isArray(lines)
    ? (lines as readonly object[]).map((line) =>
        Object.fromEntries(
          Object.entries(line).map(([field, value]) => [field, isAccountField(field) ? maskedValue(value) : value]),
        ),
      )
    : lines;

/** Custom values entered in a review, limited to those that this reader may see. */
const visibleValues = (values: unknown, customFields: ReadonlySet<string>): unknown =>
  typeof values === 'object' && values !== null
    ? Object.fromEntries(Object.entries(values).filter(([id]) => customFields.has(id)))
    : values;

type Labels = { readonly en: string; readonly zh: string };
const TERMS: Readonly<Record<string, Labels>> = {
  kind: { en: 'Kind', zh: '类别' },
  title: { en: 'Title', zh: '标题' },
  date: { en: 'Date', zh: '日期' },
  note: { en: 'Text', zh: '内容' },
};
const OTHERS: Readonly<Record<string, Labels>> = {
  payments: { en: 'Payment lines', zh: '付款计划' },
  dynamicFields: { en: 'Custom fields', zh: '自定义字段' },
};
const CONTRACT: Readonly<Record<string, Labels>> = Object.fromEntries(
  CONTRACT_COLUMNS.map(({ name, labels }) => [name, labels]),
);
const LINE: Readonly<Record<string, Labels>> = Object.fromEntries(
  LINE_COLUMNS.map(({ field, labels }) => [field, labels]),
);

/** The field's label in the tenant's language; for lines and terms with their number, from 1. */
function labelOf(key: string, locale: 'en' | 'zh'): string {
  const place = placeOf(key);
  if (!place) return key;
  if (place.list === undefined) return (CONTRACT[place.name] ?? OTHERS[place.name])?.[locale] ?? key;
  const own = (place.list === 'payments' ? LINE : TERMS)[place.name]?.[locale] ?? place.name;
  const list = { payments: { en: 'Payment', zh: '付款' }, terms: { en: 'Term', zh: '条款' } }[place.list][locale];
  return `${list} ${place.index + 1}: ${own}`;
}
