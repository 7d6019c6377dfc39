import type { Database } from '../../data-plane-agent/base/database/database.js';
import { fail, invalid } from '../../data-plane-agent/base/failures.js';
import { isId, newId } from '../../data-plane-agent/base/ids.js';
import { accountSent, masked } from '../../data-plane-agent/plane/domain/sensitive.js';
import type { Actor } from '../access/actor.js';
import { MemberStore } from '../store/members.js';
import { SubjectStore, type SubjectRecord } from '../store/subjects.js';
import { differences, type ChangeTenant } from './change.js';
import type { RemoveClosed } from './closing.js';

type SubjectFields = Pick<SubjectRecord, 'name' | 'legalName' | 'taxNo' | 'defaultPayeeAccount' | 'defaultPayeeBank'>;
type OfTenant = { readonly tenantId: string };

/** The subject companies of tenants: the legal entities that contracts belong to. An unknown one is NOT_FOUND. */
export interface Subjects {
  /** In the order of creation. */
  list(tenantId: string): Promise<SubjectRecord[]>;
  /** Throws LIMIT_REACHED. */
  add(subject: OfTenant & Pick<SubjectFields, 'name'> & Partial<SubjectFields>, actor: Actor): Promise<SubjectRecord>;
  update(
    change: OfTenant & { readonly subjectId: string; readonly fields: Partial<SubjectFields> },
    actor: Actor,
  ): Promise<SubjectRecord>;
  /**
   * Deletes a subject company, also from the scopes of members. The data plane closes it first, so that no contract is
   * created for it, and reopens it if it is not deleted. Throws SUBJECT_IN_USE if it has contracts, including contracts
   * in the trash, and LAST_SUBJECT.
   */
  remove(subject: OfTenant & { readonly subjectId: string }, actor: Actor): Promise<void>;
}

/** The same limit as for a member's scope. */
export const MAX_SUBJECTS = 1_000;

export function createSubjects({
  database,
  change,
  removeClosed,
}: {
  database: Database;
  change: ChangeTenant;
  removeClosed: RemoveClosed;
}): Subjects {
  const ask = { recordKind: 'subject', inDirectory: true };
  return {
    list: (tenantId) => database.read({ tenantId: null }, (tx) => new SubjectStore(tx, tenantId).all()),

    add: (
      { tenantId, name, legalName = null, taxNo = null, defaultPayeeAccount = null, defaultPayeeBank = null },
      actor,
    ) =>
      change({ ...ask, tenantId, actor, action: 'subject_added' }, async (tx, _tenant, at) => {
        const store = new SubjectStore(tx, tenantId);
        if ((await store.all()).length >= MAX_SUBJECTS) throw fail('LIMIT_REACHED', { limit: MAX_SUBJECTS });
        const subject: SubjectRecord = {
          id: newId(),
          name,
          legalName,
          taxNo,
          defaultPayeeAccount: wholeAccount(defaultPayeeAccount, null),
          defaultPayeeBank,
          createdAt: at,
          updatedAt: at,
        };
        await store.insert(subject);
        return { answer: subject, changed: { name, legalName, taxNo }, recordId: subject.id };
      }),

    update: ({ tenantId, subjectId, fields }, actor) =>
      change({ ...ask, tenantId, actor, action: 'subject_changed' }, async (tx, _tenant, at) => {
        const store = new SubjectStore(tx, tenantId);
        const subject = await found(store, subjectId);
        const { defaultPayeeAccount: sent, ...others } = fields;
        const given =
          sent === undefined
            ? others
            : { ...others, defaultPayeeAccount: wholeAccount(sent, subject.defaultPayeeAccount) };
        const changed = differences(subject, given);
        if (!changed) return { answer: subject, changed };
        const next: SubjectRecord = { ...subject, ...given, updatedAt: at };
        await store.update(next);
        return { answer: next, changed: withMaskedAccount(changed), recordId: subjectId };
      }),

    remove: async ({ tenantId, subjectId }, actor) => {
      if (!isId(subjectId)) throw fail('NOT_FOUND', {});
      await removeClosed(
        {
          tenantId,
          close: (plane, closingId) => plane.closeSubject({ subjectId, closingId }),
          remove: ({ contracts }) => removed({ tenantId, subjectId, contracts }, actor),
        },
        actor,
      );
    },
  };

  function removed(
    { tenantId, subjectId, contracts }: OfTenant & { subjectId: string; contracts: number },
    actor: Actor,
  ): Promise<void> {
    return change({ ...ask, tenantId, actor, action: 'subject_removed' }, async (tx, _tenant, at) => {
      const store = new SubjectStore(tx, tenantId);
      const subject = await found(store, subjectId);
      if (contracts > 0) throw fail('SUBJECT_IN_USE', { count: contracts });
      if ((await store.all()).length === 1) throw fail('LAST_SUBJECT', {});
      const narrowed = await new MemberStore(tx, tenantId).dropFromScopes({ subjectId, at });
      await store.delete(subjectId);
      return { answer: undefined, changed: { name: subject.name, narrowedMembers: narrowed }, recordId: subjectId };
    });
  }
}

async function found(store: SubjectStore, id: string): Promise<SubjectRecord> {
  const subject = isId(id) ? (await store.all()).find((one) => one.id === id) : undefined;
  if (!subject) throw fail('NOT_FOUND', {});
  return subject;
}

/** The account number to store: sending the masked form of the present number keeps it. */
const wholeAccount = (sent: string | null, present: string | null): string | null =>
  accountSent(sent, present, (problem) => {
    throw invalid({ path: 'defaultPayeeAccount', problem });
  });

/** The audit contains only the last characters of account numbers. */
function withMaskedAccount({
  defaultPayeeAccount: account,
  ...changed
}: Record<string, { from: unknown; to: unknown }>): Record<string, unknown> {
  const end = (value: unknown) => (typeof value === 'string' ? masked(value) : null);
  return { ...changed, ...(account ? { defaultPayeeAccount: { from: end(account.from), to: end(account.to) } } : {}) };
}
