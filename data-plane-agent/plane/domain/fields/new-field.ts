import { fold } from '../search.js';
import { decimalsOf } from '../../../base/money.js';
import { normalCut } from '../../../base/text.js';
import type { Issue } from '../../../base/issue.js';
import { MAX_TEXT, type FieldSettings, type FieldType } from '../../contract/records/fields.js';
import { meansTo, settingsOf } from './answer.js';
import type { FieldRow } from '../../tables/fields.js';

export const nameKeyOf = (name: string): string => fold(name);

export type GivenSettings = Readonly<{ [K in keyof FieldSettings]?: FieldSettings[K] | undefined }> | null | undefined;

/**
 * The settings after a request: settings not given stay, and `null` clears. A currency field without a currency gets
 * the tenant's, so that it does not change with the tenant's setting. Reports settings that do not apply to the type,
 * and contradicting bounds.
 */
export function nextSettings(
  present: FieldRow['settings'],
  given: GivenSettings,
  { type, currencyCode }: { readonly type: FieldType; readonly currencyCode: string },
): { readonly settings: FieldRow['settings']; readonly issues: readonly Issue[] } {
  const issues: Issue[] = [];
  const refuse = (key: keyof FieldSettings, problem: string) =>
    issues.push({ path: `payload.settings.${key}`, problem });
  const named = Object.entries(given ?? {}).filter(([, value]) => value !== undefined) as [
    keyof FieldSettings,
    never,
  ][]; // the schema allows only these keys
  for (const [key, value] of named)
    if (value !== null && !meansTo(type, key)) refuse(key, `must be left out for a field of the type ${type}`);
  const merged: FieldRow['settings'] = { ...present, ...Object.fromEntries(named) };
  const settings = type === 'currency' ? { ...merged, currencyCode: merged.currencyCode ?? currencyCode } : merged;
  const own = settingsOf({ type, settings });
  if (own.min !== null && own.max !== null && own.min > own.max)
    refuse(
      given?.max === undefined ? 'min' : 'max',
      given?.max === undefined ? 'must not be above max' : 'must not be below min',
    );
  if (type === 'text' && own.maxLength !== null && own.maxLength > MAX_TEXT && isGiven(given?.maxLength))
    refuse('maxLength', `must be <= ${MAX_TEXT} for the type text`);
  if (
    type === 'currency' &&
    own.precision !== null &&
    own.currencyCode !== null &&
    own.precision > decimalsOf(own.currencyCode)
  ) {
    if (isGiven(given?.precision))
      refuse('precision', `must be <= ${decimalsOf(own.currencyCode)} in ${own.currencyCode}`);
    else return { settings: { ...settings, precision: null }, issues };
  }
  return { settings, issues };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/**
 * A unique code made of the Latin letters and digits of a name, with a number added when it is taken. A name without
 * any (`合同备注`) results in `field`, `field_2`, …, since transliteration would be a guess.
 */
export function codeFor(name: string, taken: ReadonlySet<string>): string {
  const words = normalCut(name, { max: 1_000, form: 'NFKD' })
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  const stem = (/^[a-z]./.test(words) ? words : words === '' ? 'field' : `field_${words}`)
    .slice(0, 56)
    .replace(/_+$/, '');
  return free(
    stem,
    (n) => `${stem}_${n}`,
    (code) => taken.has(code),
  );
}

/** The name of a copy: `Gate 2`, `Gate 3`, … */
export const nameForCopy = (name: string, taken: ReadonlySet<string>): string => {
  const stem = name.slice(0, 90).trimEnd();
  return free(
    `${stem} 2`,
    (n) => `${stem} ${n + 1}`,
    (copy) => taken.has(nameKeyOf(copy)),
  );
};

function free(first: string, numbered: (n: number) => string, isTaken: (candidate: string) => boolean): string {
  let candidate = first;
  for (let n = 2; isTaken(candidate); n++) candidate = numbered(n);
  return candidate;
}
