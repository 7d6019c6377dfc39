/** The members responsible for a contract. */
export interface Responsible {
  readonly ownerId: string;
  readonly ownerSuperiorId: string | null;
}

export interface Handover {
  /** The leaving member. */
  readonly memberId: string;
  readonly successorId: string;
  /**
   * The successor's own superior, used where the successor would become their own superior; `null` when there is none.
   */
  readonly successorSuperiorId: string | null;
  readonly transferContracts: boolean;
  readonly transferContractSupervisors: boolean;
}

/** The responsible members after the handover. `stoodIn`: the successor would have become their own superior. */
export function handedOver(
  { ownerId, ownerSuperiorId }: Responsible,
  handover: Handover,
): Responsible & { readonly stoodIn: boolean } {
  const { memberId, successorId, successorSuperiorId, transferContracts, transferContractSupervisors } = handover;
  const owner = transferContracts && ownerId === memberId ? successorId : ownerId;
  const superior = transferContractSupervisors && ownerSuperiorId === memberId ? successorId : ownerSuperiorId;
  // A pair that was equal before stays: in a small company one person may have both roles.
  const stoodIn = owner === superior && owner === successorId && (owner !== ownerId || superior !== ownerSuperiorId);
  return { ownerId: owner, ownerSuperiorId: stoodIn ? successorSuperiorId : superior, stoodIn };
}
