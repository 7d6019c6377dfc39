import { s } from '../../../data-plane-agent/base/schema.js';
import { warn } from '../../../data-plane-agent/base/warnings.js';
import { OK, Ok, type Warning } from '../../../data-plane-agent/plane/contract/records/common.js';
import { edit, type Permissions } from '../../access/permissions.js';
import { actorOf } from '../../access/actor.js';
import { SavedSubject, SubjectCompany, SubjectInput, SubjectPatch } from '../../tenants/tenants.schemas.js';
import { endpoint } from '../../http/endpoint.js';
import { MAX_SUBJECTS, type Subjects } from '../../tenants/subjects.js';
import { subjectAnswer } from '../../tenants/subject-answer.js';
import { isSocialCreditCode } from '../../tenants/tax-no.js';

const listSubjectCompanies = endpoint('GET /tenant-admin/subjects', {
  summary: 'List subject companies',
  description:
    'Account numbers are masked for roles without `sensitive_data (view)`, here and in every other answer; sending a masked number back changes nothing.',
  needs: edit('admin'),
  returns: s.list(SubjectCompany, MAX_SUBJECTS, 'A plain array: an organisation has at most 1 000 subject companies.'),
  fails: [],
  run: async ({ principal, services }) =>
    (await services.tenants.subjects.list(principal.tenant.id)).map((subject) =>
      subjectAnswer(subject, principal.permissions),
    ),
});

const createSubjectCompany = endpoint('POST /tenant-admin/subjects', {
  summary: 'Create a subject company',
  description: 'A legal entity that contracts may belong to. An implausible tax number causes a warning.',
  needs: edit('admin'),
  body: SubjectInput,
  returns: SavedSubject,
  status: 201,
  fails: ['LIMIT_REACHED'],
  run: async ({ body, principal, request, services }) => {
    const { name, legalName = null, taxNo = null, defaultPayeeAccount = null, defaultPayeeBank = null } = body;
    return saved(
      await services.tenants.subjects.add(
        { tenantId: principal.tenant.id, name, legalName, taxNo, defaultPayeeAccount, defaultPayeeBank },
        actorOf(principal.user, request),
      ),
      principal.permissions,
    );
  },
});

const updateSubjectCompany = endpoint('PATCH /tenant-admin/subjects/:id', {
  summary: 'Update a subject company',
  needs: edit('admin'),
  body: SubjectPatch,
  returns: SavedSubject,
  fails: [],
  run: async ({ params, body, principal, request, services }) =>
    saved(
      await services.tenants.subjects.update(
        { tenantId: principal.tenant.id, subjectId: params.id, fields: body },
        actorOf(principal.user, request),
      ),
      principal.permissions,
    ),
});

const deleteSubjectCompany = endpoint('DELETE /tenant-admin/subjects/:id', {
  summary: 'Delete a subject company',
  description:
    'The subject company must have no contracts, including contracts in the trash, and must not be the last one. No contract can be created for it during the deletion. It is removed from the scopes of members too: members who could see only this company see none.',
  needs: edit('admin'),
  returns: Ok,
  fails: ['SUBJECT_IN_USE', 'LAST_SUBJECT'],
  run: async ({ params, principal, request, services }) => {
    await services.tenants.subjects.remove(
      { tenantId: principal.tenant.id, subjectId: params.id },
      actorOf(principal.user, request),
    );
    return OK;
  },
});

type Subject = Awaited<ReturnType<Subjects['add']>>;

const saved = (subject: Subject, permissions: Permissions) => ({
  ...subjectAnswer(subject, permissions),
  warnings: warningsOf(subject),
});

function warningsOf({ taxNo }: Subject): Warning[] {
  if (taxNo === null || [...taxNo].length !== 18 || isSocialCreditCode(taxNo)) return [];
  return [warn('TAX_NO_CHECKSUM', {})];
}

export const subjectEndpoints = {
  listSubjectCompanies,
  createSubjectCompany,
  updateSubjectCompany,
  deleteSubjectCompany,
};
