import type { SubjectRecord } from '../../store/subjects.js';
import type { FindingType } from './finding-types.js';
import { normalise } from './normalise.js';
import { tokensOf } from './tokens.js';

/** The tax numbers and payee accounts of an organisation's own subject companies. */
export interface OwnNumbers {
  /** Those with which the characters at this position begin. */
  beginningAt(chars: string, at: number): readonly OwnNumber[];
}

export interface OwnNumber {
  readonly type: FindingType;
  readonly length: number;
}

export const NO_OWN_NUMBERS: OwnNumbers = { beginningAt: () => [] };

/** Shorter numbers occur in any text by chance. */
const SHORTEST = 6;

export function ownNumbersOf(subjects: readonly Pick<SubjectRecord, 'taxNo' | 'defaultPayeeAccount'>[]): OwnNumbers {
  const byBeginning = new Map<string, Map<string, FindingType>>();
  const add = (type: FindingType, written: string | null): void => {
    const { chars } = tokensOf(normalise(written ?? '').text);
    if (chars.length < SHORTEST) return;
    const beginning = chars.slice(0, SHORTEST);
    const numbers = byBeginning.get(beginning) ?? new Map<string, FindingType>();
    if (!numbers.has(chars)) numbers.set(chars, type);
    byBeginning.set(beginning, numbers);
  };
  for (const { taxNo } of subjects) add('TENANT_TAX_NO', taxNo);
  for (const { defaultPayeeAccount } of subjects) add('TENANT_ACCOUNT', defaultPayeeAccount);
  if (byBeginning.size === 0) return NO_OWN_NUMBERS;
  return {
    beginningAt: (chars, at) => {
      const numbers = byBeginning.get(chars.slice(at, at + SHORTEST));
      if (!numbers) return [];
      return [...numbers]
        .filter(([number]) => chars.startsWith(number, at))
        .map(([{ length }, type]) => ({ type, length }));
    },
  };
}
