/** Who is responsible for a contract. */
export interface Responsible {
  readonly ownerId: string;
  readonly ownerSuperiorId: string | null;
}

export interface Handover {
  /** Who leaves. */
  readonly memberId: string;
  readonly successorId: string;
  /**
   * The head of the successor's own chain, who stands in where the successor would become his own superior; `null` when
   * he has none.
   */
  readonly successorSuperiorId: string | null;
  readonly transferContracts: boolean;
  readonly transferContractSupervisors: boolean;
}

/** Who is responsible after the handover. `stoodIn`: the successor would have been his own superior. */
export function handedOver(
  { ownerId, ownerSuperiorId }: Responsible,
  handover: Handover,
): Responsible & { readonly stoodIn: boolean } {
  const { memberId, successorId, successorSuperiorId, transferContracts, transferContractSupervisors } = handover;
  const owner = transferContracts && ownerId === memberId ? successorId : ownerId;
  const superior = transferContractSupervisors && ownerSuperiorId === memberId ? successorId : ownerSuperiorId;
  // What was so before stays so: a small firm may have one person for both.
  const stoodIn = owner === superior && owner === successorId && (owner !== ownerId || superior !== ownerSuperiorId);
  return { ownerId: owner, ownerSuperiorId: stoodIn ? successorSuperiorId : superior, stoodIn };
}
