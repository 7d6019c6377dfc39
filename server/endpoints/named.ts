import { jsonBytes } from '../../data-plane-agent/base/json-pieces.js';
import { joined, jsonTextOf, type JsonText } from '../../data-plane-agent/base/json-text.js';
import { s, type Static } from '../../data-plane-agent/base/schema.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import {
  contractDetailProperties,
  contractProperties,
  type ContractDetail,
  type ContractSummary,
  type PreparedContract,
} from '../../data-plane-agent/plane/contract/records/contracts.js';
import { page } from '../../data-plane-agent/plane/contract/records/common.js';
import { receivedJson } from '../../data-plane-agent/plane/contract/received-json.js';
import type { Principal } from '../access/principal.js';
import type { Services } from '../services/services.js';
import { JsonBody, taggedWith, type Reply } from '../http/reply.js';
import type { TenantDirectory } from '../tenants/directory.js';

/**
 * The control plane stores the names of members and subject companies: the data plane returns ids, and the names are
 * added here.
 */
export const nameProperties = {
  subjectName: s.nullable(s.text()),
  ownerName: s.nullable(s.text()),
  ownerSuperiorName: s.nullable(s.text()),
  createdByName: s.nullable(s.text()),
  updatedByName: s.nullable(s.text()),
};

export const NamedContract = s.object({ ...contractProperties, ...nameProperties }, { title: 'Contract' });
export type NamedContract = Static<typeof NamedContract>;
export const NamedContractDetail = s.object(
  { ...contractDetailProperties, ...nameProperties },
  { title: 'ContractDetail' },
);
type NamedContractDetail = Static<typeof NamedContractDetail>;
export const NamedContractPage = page(NamedContract, { title: 'ContractPage' });
export type ContractPage = Static<typeof NamedContractPage>;

type Named = Pick<ContractSummary, 'subjectId' | 'ownerId' | 'ownerSuperiorId' | 'createdBy' | 'updatedBy'>;

const namesOf = ({ subjectId, ownerId, ownerSuperiorId, createdBy, updatedBy }: Named, directory: TenantDirectory) => ({
  subjectName: directory.subjectName(subjectId),
  ownerName: directory.memberName(ownerId),
  ownerSuperiorName: ownerSuperiorId === null ? null : directory.memberName(ownerSuperiorId),
  createdByName: createdBy === null ? null : directory.memberName(createdBy),
  updatedByName: updatedBy === null ? null : directory.memberName(updatedBy),
});

export const withNames = <C extends ContractSummary | ContractDetail>(contract: C, directory: TenantDirectory) => ({
  ...contract,
  ...namesOf(contract, directory),
});

/** The JSON of a contract with the names. What an agent sent is not made again. */
export function jsonWithNames(contract: ContractDetail, directory: TenantDirectory): Buffer | Promise<Buffer> {
  const received = receivedJson(contract);
  if (received === undefined) return jsonBytes(withNames(contract, directory));
  return Buffer.concat([
    received.subarray(0, -1),
    Buffer.from(`,${jsonTextOf(namesOf(contract, directory)).slice(1)}`),
  ]);
}

/** The answer of an endpoint that changed a contract. */
export async function changed(
  contract: ContractDetail,
  { principal, services }: Caller,
): Promise<Reply<NamedContractDetail>> {
  const directory = await services.directory.of(principal.tenant.id);
  const body = new JsonBody(await jsonWithNames(contract, directory));
  return taggedWith<NamedContractDetail>(contract.version, body);
}

export const textWithNames = (contract: PreparedContract, directory: TenantDirectory): JsonText<NamedContract> =>
  joined(contract.json, jsonTextOf(namesOf(contract, directory)));

/** The names in a row of a list that belongs to a contract. */
export const rowNameProperties = { subjectName: nameProperties.subjectName, ownerName: nameProperties.ownerName };

export const withRowNames = <R extends { readonly subjectId: string; readonly ownerId: string }>(
  row: R,
  directory: TenantDirectory,
) => ({ ...row, subjectName: directory.subjectName(row.subjectId), ownerName: directory.memberName(row.ownerId) });

/** Refuses a filter by a subject company that the tenant does not have, like one outside the caller's scope. */
export function checkFilter(
  { subjectId }: { readonly subjectId?: string | null | undefined },
  directory: TenantDirectory,
): void {
  if (subjectId && !directory.hasSubject(subjectId)) throw fail('NOT_FOUND', {});
}

/** Ids of members and subject companies that a contract refers to. */
interface References {
  readonly subjectId?: string | null | undefined;
  readonly ownerId?: string | null | undefined;
  readonly ownerSuperiorId?: string | null | undefined;
}
type Caller = { readonly principal: Principal; readonly services: Services };

/**
 * Refuses a reference to a subject company outside the caller's scope or to someone who is not an active member, before
 * the data plane is called. The present values of a contract may be sent back, even if its owner is no longer active:
 * `present` is called only then.
 */
export async function checkReferences(
  references: References,
  caller: Caller,
  present?: () => Promise<References>,
): Promise<void> {
  const unknown = await unknownReferenceIn(references, caller, present);
  if (unknown) throw fail('REFERENCE_INVALID', unknown);
}

/** Returns the first such reference; the data plane reports it after its own checks. */
export async function unknownReferenceIn(
  references: References,
  caller: Caller,
  present?: () => Promise<References>,
): Promise<{ readonly field: string; readonly value: string } | undefined> {
  const dangling = await danglingReferences(references, caller);
  if (dangling.length === 0) return undefined;
  const known = (await present?.()) ?? {};
  const field = dangling.find((name) => references[name] !== known[name]);
  return field && { field, value: references[field] ?? '' };
}

async function danglingReferences(
  { subjectId, ownerId, ownerSuperiorId }: References,
  { principal, services }: Caller,
): Promise<(keyof References)[]> {
  const directory = await services.directory.of(principal.tenant.id);
  const isSubject = (id: string) => directory.hasSubject(id) && (principal.user.subjectScope?.includes(id) ?? true);
  return [
    ...(subjectId && !isSubject(subjectId) ? (['subjectId'] as const) : []),
    ...(ownerId && !directory.hasActiveMember(ownerId) ? (['ownerId'] as const) : []),
    ...(ownerSuperiorId && !directory.hasActiveMember(ownerSuperiorId) ? (['ownerSuperiorId'] as const) : []),
  ];
}
