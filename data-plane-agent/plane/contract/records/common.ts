import type { JsonText } from '../../../base/json-text.js';
import { s, type Static, type TSchema } from '../../../base/schema.js';
import { WARNING_DETAILS } from '../../../base/warnings.js';

export const stamps = { createdAt: s.instant(), updatedAt: s.instant() };

export const pageQuery = {
  page: s.optional(s.integer({ min: 1, max: 1_000_000, default: 1, about: '1-indexed' })),
  pageSize: s.optional(s.integer({ min: 1, max: 200, default: 20 })),
};

/** A page of a list. `total` is exact; a page past the end has no items; `pageCount` of an empty list is 0. */
export const page = <T extends TSchema>(item: T, options: { title?: string } = {}) =>
  s.object(
    {
      items: s.list(item, 200),
      page: s.integer({ min: 1 }),
      pageSize: s.integer({ min: 1, max: 200 }),
      total: s.integer(),
      pageCount: s.integer(),
    },
    options,
  );

/** Wraps the items of a page. */
export const pageOf = <T>(
  items: T[],
  { page, pageSize, total }: { page: number; pageSize: number; total: number },
) => ({ items, page, pageSize, total, pageCount: Math.ceil(total / pageSize) });

/** The same of items that are serialised. */
export const pageText = <T, F extends Omit<ReturnType<typeof pageOf>, 'items'>>(
  items: readonly JsonText<T>[],
  frame: F,
): JsonText<F & { items: T[] }> => `{"items":[${items.join(',')}],${JSON.stringify(frame).slice(1)}`;

/** Which party of a contract is which, wherever the two are shown. */
export const PARTY_A =
  'Party A (甲方) as the contract names it; if it names no party so, the customer, who pays: the buyer or lessee.';
export const PARTY_B =
  'Party B (乙方) as the contract names it; if it names no party so, the own company, which is paid: the seller or lessor.';

const details = WARNING_DETAILS;

/** Something to check that did not stop the request. */
export const Warning = s.object(
  {
    code: s.text({ max: 64, about: 'One of `x-warnings`.' }),
    message: s.text(),
    paymentIds: s.omittable(details.paymentIds),
    today: s.omittable(details.today),
    formerAmount: s.omittable(details.formerAmount),
    receivedAmount: s.omittable(details.receivedAmount),
    totalAmount: s.omittable(details.totalAmount),
    planAmount: s.omittable(details.planAmount),
    difference: s.omittable(details.difference),
    currencyCode: s.omittable(details.currencyCode),
    transfers: s.omittable(details.transfers),
  },
  { title: 'Warning', about: 'Which further fields a warning has depends on its `code`: see `x-warnings`.' },
);
export type Warning = Static<typeof Warning>;
export const warnings = s.list(Warning, 1_000);

export const Ok = s.object({ ok: s.flag() }, { title: 'Ok' });
export const OkWithWarnings = s.object(
  { ok: s.flag(), warnings: s.omittable(warnings) },
  { title: 'OkWithWarnings', about: '`warnings` is omitted when there are none.' },
);
export const OK = { ok: true };
