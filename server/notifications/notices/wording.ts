import type { Notice, NoticeOf, ReminderStep } from './notice.js';

/** Part of a line: our own wording, or a value of the tenant's data, which each format escapes. */
export type Piece = string | Value;
export interface Value {
  readonly value: string;
  /** A text that may be long, such as a note. */
  readonly isLong?: boolean;
}
export type Line = readonly Piece[];

/** What a notice says, in one language and no format yet. */
export interface NoticeText {
  readonly subject: Line;
  readonly opening: readonly Line[];
  readonly facts: readonly { readonly label: string; readonly value: Value }[];
  /** The lines of a digest. */
  readonly entries: readonly { readonly title: Value; readonly rest: Line; readonly link: string | null }[];
  /** Follows the entries if some of them had to be left out. */
  more(count: number): string;
  readonly totals: readonly Line[];
  readonly closing: readonly Line[];
  readonly link: { readonly label: string; readonly url: string } | null;
  readonly urgency: Urgency;
  /** Between a label and its value, and between the parts of an entry. */
  readonly marks: { readonly colon: string; readonly dot: string };
}

/** Colours the header on platforms that have one. */
export type Urgency = 'info' | 'warning' | 'urgent';

/** Each notice in one language. */
export type NoticeWording = {
  readonly [T in Notice['type']]: (notice: NoticeOf<T>) => NoticeText;
};

/** A line of our wording, in which every inserted text is a value. */
export function line(wording: TemplateStringsArray, ...values: readonly (string | number)[]): Line {
  return wording.flatMap((text, index): Piece[] => {
    const value = values[index];
    return [...(text === '' ? [] : [text]), ...(value === undefined ? [] : [{ value: String(value) }])];
  });
}

export const urgencyOf = (step: ReminderStep): Urgency =>
  step === 'escalated' || step === 'final' ? 'urgent' : step === 'overdue_1' ? 'warning' : 'info';

/** From the mildest to the most severe. */
const SEVERITY: readonly ReminderStep[] = ['manual', 'pre_due', 'due_day', 'overdue_1', 'escalated', 'final'];

/** The most severe step of several lines sets the tone of their digest. */
export const gravest = (steps: readonly ReminderStep[]): ReminderStep =>
  SEVERITY.findLast((step) => steps.includes(step)) ?? 'manual';

export const NOTHING = { opening: [], facts: [], entries: [], totals: [], closing: [], link: null } as const;
