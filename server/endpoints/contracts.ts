import { fail } from '../../data-plane-agent/base/failures.js';
import { Ok } from '../../data-plane-agent/plane/contract/records/common.js';
import {
  ContractInput,
  ContractPatch,
  ContractQuery,
} from '../../data-plane-agent/plane/contract/records/contracts.js';
import { edit, view } from '../access/permissions.js';
import { judgeContract, judgeContractPatch } from '../data-planes/judged-amounts.js';
import { endpoint } from '../http/endpoint.js';
import { tagged } from '../http/reply.js';
import { checkRoleCodes, unknownRoleIn } from './config-references.js';
import { membersNamed } from './people.js';
import { checkReferences, unknownReferenceIn, NamedContractDetail, NamedContractPage, withNames } from './named.js';

const listContracts = endpoint('GET /contracts', {
  summary: 'List contracts',
  description:
    'Newest first when neither `sort` nor `order` is given; a `sort` that is named begins with the least. A missing date counts as later than every date, and ties break on the id. ' +
    "A `subjectId` that is not within the caller's scope is answered like a record that is not there.",
  needs: view('contract_view'),
  query: ContractQuery,
  returns: NamedContractPage,
  calls: ['listContracts'],
  fails: [],
  run: async ({ query, plane, principal, services }) => {
    const directory = await services.directory.of(principal.tenant.id);
    if (query.subjectId && !directory.hasSubject(query.subjectId)) throw fail('NOT_FOUND', {});
    const page = await plane.listContracts(query);
    return { ...page, items: page.items.map((contract) => withNames(contract, directory)) };
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
    return tagged(withNames(contract, await services.directory.of(principal.tenant.id)));
  },
});

const createContract = endpoint('POST /contracts', {
  summary: 'Enter a contract',
  description:
    'With its payment lines, terms and notes: all of it or nothing. A `period` may come twice with one `dueDate`, such as rent and service charge; `PATCH /contracts/:id` cannot tell the two apart, and they are changed line by line. Money received on a line needs `payment_entry (edit)`, invoice fields `invoice (edit)`. A line with `invoiceNo` makes an issued invoice record. A stage after review needs the workflow control `admin` there, and `workflowAllowedRoles` need `approve` at the stage where the contract begins (`WORKFLOW_CONTROL_REQUIRED`).',
  needs: edit('contract_edit'),
  body: ContractInput,
  judge: judgeContract,
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
    return tagged(withNames(contract, await services.directory.of(principal.tenant.id)));
  },
});

const updateContract = endpoint('PATCH /contracts/:id', {
  summary: 'Change a contract',
  description:
    'What is not given stays; `null` clears an optional field or brings its default back. `terms` and `extraNotes` replace what the contract has, `dynamicFields` merges by key. ' +
    'Naming another `typeCode` does not change `type`. A total that was computed follows quantity and unit price. In another currency every amount keeps its number. ' +
    'On a locked contract a core field may be sent with the value that it has. A stage changes by transitions only. ' +
    'Other `workflowAllowedRoles` than the contract has need the workflow control `approve` at its stage (`WORKFLOW_CONTROL_REQUIRED`), and are a core field; the same ones in another order are no change. ' +
    'A request that changes nothing answers 200 with the version unmoved.\n\n' +
    '`payments` is the plan as it should be. A line is the present one of the same `period`; a period that comes twice, here or in the contract, is told apart by `dueDate`, and the same pair twice is 400. ' +
    'Of a line that is found the fields given change, with `null` as in `PATCH /payments/:paymentId`; others are new; what is missing is removed, and nothing happens at all when money was received or invoiced on it (`LINE_HAS_MONEY`). `[]` and `null` remove all lines. ' +
    'A change of what was received needs `payment_entry (edit)`, of an invoice `invoice (edit)`; to send back what a line has needs neither, and a `reconciliationStatus` that is sent back does not keep a line matched whose amount changes. ' +
    'Without `currencyCode` a line in the contract\'s currency follows it. On a locked contract period, due date, amount and currency of the lines stay (`CONTRACT_LOCKED`, `fields: ["payments"]`), receipts and invoices are open. Warnings name up to 100 `paymentIds`.',
  needs: edit('contract_edit'),
  body: ContractPatch,
  judge: judgeContractPatch,
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
    return tagged(withNames(contract, await services.directory.of(principal.tenant.id)));
  },
});

const deleteContract = endpoint('DELETE /contracts/:id', {
  summary: 'Delete a contract',
  description:
    'With its payment lines, tasks and invoice records, to the trash, from which it can be restored for thirty days; receipts stay for audit, and its numbers become free. A signed or active contract with money received needs the workflow control `admin` at its stage.',
  needs: edit('contract_delete'),
  returns: Ok,
  calls: ['deleteContract'],
  fails: [],
  run: ({ params, plane }) => plane.deleteContract({ contractId: params.id }),
});

export const contractEndpoints = { listContracts, getContract, createContract, updateContract, deleteContract };
