import { Ok, pageText } from '../../data-plane-agent/plane/contract/records/common.js';
import {
  ContractInput,
  ContractPatch,
  ContractQuery,
} from '../../data-plane-agent/plane/contract/records/contracts.js';
import { edit, view } from '../access/permissions.js';
import { newContractIssues, contractPatchIssues } from '../data-planes/amount-issues.js';
import { endpoint } from '../http/endpoint.js';
import { madeOnce, serialised, taggedWith } from '../http/reply.js';
import { checkRoleCodes, unknownRoleIn } from './config-references.js';
import { membersNamed } from './people.js';
import {
  changed,
  checkFilter,
  checkReferences,
  jsonWithNames,
  unknownReferenceIn,
  NamedContractDetail,
  NamedContractPage,
  textWithNames,
} from './named.js';

const listContracts = endpoint('GET /contracts', {
  summary: 'List contracts',
  description:
    'Newest first if neither `sort` nor `order` is given; with `sort` alone the order is ascending. A missing date sorts after every date, and ties are broken by id. ' +
    "A `subjectId` outside the caller's scope returns 404, like one that does not exist.",
  needs: view('contract_view'),
  query: ContractQuery,
  returns: NamedContractPage,
  conditional: true,
  calls: ['listContracts'],
  fails: [],
  run: async ({ query, plane, principal, services }) => {
    const directory = await services.directory.of(principal.tenant.id);
    checkFilter(query, directory);
    const found = await plane.listContracts(query);
    const { items, ...page } = found;
    return serialised(
      await madeOnce(found, directory, () =>
        pageText(
          items.map((contract) => textWithNames(contract, directory)),
          page,
        ),
      ),
    );
  },
});

const getContract = endpoint('GET /contracts/:id', {
  summary: 'Read a contract with its lines, terms and notes',
  needs: view('contract_view'),
  returns: NamedContractDetail,
  calls: ['getContract'],
  fails: [],
  run: async ({ params, plane, principal, services }) => {
    const contract = await plane.getContract({ contractId: params.id });
    const directory = await services.directory.of(principal.tenant.id);
    return taggedWith(
      contract.version,
      await madeOnce(contract, directory, async () => jsonWithNames(contract, directory)),
    );
  },
});

const createContract = endpoint('POST /contracts', {
  summary: 'Create a contract',
  description:
    'Creates the contract with its payment lines, terms and notes in one transaction. Two lines may have the same `period` and `dueDate`, such as rent and service charge; `PATCH /contracts/:id` cannot distinguish them, so they are changed line by line. Received amounts need `payment_entry (edit)`, invoice fields `invoice (edit)`. A line with `invoiceNo` creates an issued invoice record. A stage after review needs the workflow control `admin` at that stage, and `workflowAllowedRoles` need `approve` at the initial stage (`WORKFLOW_CONTROL_REQUIRED`).',
  needs: edit('contract_edit'),
  body: ContractInput,
  furtherIssues: newContractIssues,
  status: 201,
  returns: NamedContractDetail,
  calls: ['createContract'],
  fails: [],
  run: async ({ body, plane, principal, services }) => {
    const unknownReference =
      (await unknownReferenceIn(body, { principal, services })) ??
      (await unknownRoleIn('workflowAllowedRoles', body.workflowAllowedRoles, { principal, services }));
    const contract = await plane.createContract({
      ...body,
      ...(await membersNamed(body, { principal, services })),
      ...(unknownReference ? { unknownReference } : {}),
    });
    return changed(contract, { principal, services });
  },
});

const updateContract = endpoint('PATCH /contracts/:id', {
  summary: 'Update a contract',
  description:
    'Omitted fields are unchanged; `null` clears an optional field or restores its default. `terms` and `extraNotes` replace the present lists, `dynamicFields` merges by key. ' +
    'A new `typeCode` does not change `type`. A computed total follows quantity and unit price. If the currency changes, amounts keep their numbers. ' +
    'On a locked contract, a core field may be sent only with its present value. The stage changes only by transitions. ' +
    'A change of `workflowAllowedRoles` needs the workflow control `approve` at the present stage (`WORKFLOW_CONTROL_REQUIRED`); it is a core field, and a different order is not a change. ' +
    'A request that changes nothing returns 200 with the same version.\n\n' +
    '`payments` is the complete plan. A line is matched to the present line of the same `period`; if a period occurs twice, in the request or in the contract, `dueDate` distinguishes the lines, and the same pair twice is 400. ' +
    'On a matched line the given fields change, with `null` as in `PATCH /payments/:paymentId`; unmatched lines in the request are created; present lines that are not in the request are deleted. If a line to be deleted has received or invoiced amounts, the whole request is refused (`LINE_HAS_MONEY`). `[]` and `null` delete all lines. ' +
    'A change of received amounts needs `payment_entry (edit)`, of invoice fields `invoice (edit)`; sending the present values needs neither. If the amount of a matched line changes, sending its present `reconciliationStatus` does not keep it matched. ' +
    'Without `currencyCode`, a line in the contract\'s currency follows a change of that currency. On a locked contract, period, due date, amount and currency of the lines cannot be changed (`CONTRACT_LOCKED`, `fields: ["payments"]`); receipts and invoices can. Warnings list up to 100 `paymentIds`.',
  needs: edit('contract_edit'),
  body: ContractPatch,
  furtherIssues: contractPatchIssues,
  returns: NamedContractDetail,
  calls: ['getContract', 'updateContract'],
  fails: [],
  run: async ({ params, body, plane, principal, services }) => {
    await checkReferences(body, { principal, services }, () => plane.getContract({ contractId: params.id }));
    await checkRoleCodes('workflowAllowedRoles', body.workflowAllowedRoles, {
      principal,
      services,
      found: () => plane.getContract({ contractId: params.id }),
    });
    const contract = await plane.updateContract({
      contractId: params.id,
      changes: body,
      ...(await membersNamed(body, { principal, services })),
    });
    return changed(contract, { principal, services });
  },
});

const deleteContract = endpoint('DELETE /contracts/:id', {
  summary: 'Delete a contract',
  description:
    'Moves the contract with its payment lines, tasks and invoice records to the trash, from which it can be restored for thirty days. Receipts are kept for audit, and the numbers can be used again. Deleting a signed or active contract with received amounts needs the workflow control `admin` at its stage.',
  needs: edit('contract_delete'),
  returns: Ok,
  calls: ['deleteContract'],
  fails: [],
  run: ({ params, plane }) => plane.deleteContract({ contractId: params.id }),
});

export const contractEndpoints = { listContracts, getContract, createContract, updateContract, deleteContract };
