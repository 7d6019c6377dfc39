import { expect } from 'chai';
import { handedOver, type Responsible } from '../../data-plane-agent/plane/domain/contracts/handover.js';

const both = {
  memberId: 'leaver',
  successorId: 'heir',
  successorSuperiorId: 'boss',
  transferContracts: true,
  transferContractSupervisors: true,
};
const pair = (ownerId: string, ownerSuperiorId: string | null): Responsible => ({ ownerId, ownerSuperiorId });

describe('the owner and superior after a handover', () => {
  const rows: readonly (readonly [what: string, before: Responsible, after: Responsible, stoodIn: boolean])[] = [
    ["another member's contract is unchanged", pair('other', 'chief'), pair('other', 'chief'), false],
    ['an owner is replaced', pair('leaver', 'chief'), pair('heir', 'chief'), false],
    ['an owner without a superior is replaced', pair('leaver', null), pair('heir', null), false],
    ['a superior is replaced', pair('other', 'leaver'), pair('other', 'heir'), false],
    [
      'the successor does not become their own superior by owning a contract',
      pair('leaver', 'heir'),
      pair('heir', 'boss'),
      true,
    ],
    [
      'the successor does not become their own superior by supervising their own contract',
      pair('heir', 'leaver'),
      pair('heir', 'boss'),
      true,
    ],
    [
      'the successor does not become their own superior by replacing a member who was both',
      pair('leaver', 'leaver'),
      pair('heir', 'boss'),
      true,
    ],
    [
      'a contract that the successor both owns and supervises is unchanged',
      pair('heir', 'heir'),
      pair('heir', 'heir'),
      false,
    ],
  ];
  for (const [what, before, after, stoodIn] of rows) {
    it(what, () => expect(handedOver(before, both)).to.deep.equal({ ...after, stoodIn }));
  }

  it('the superior is cleared if the successor has none', () => {
    expect(handedOver(pair('leaver', 'heir'), { ...both, successorSuperiorId: null })).to.deep.equal({
      ownerId: 'heir',
      ownerSuperiorId: null,
      stoodIn: true,
    });
  });

  it('each of the two handovers is optional', () => {
    const was = pair('leaver', 'leaver');
    expect(handedOver(was, { ...both, transferContracts: false })).to.deep.equal({
      ownerId: 'leaver',
      ownerSuperiorId: 'heir',
      stoodIn: false,
    });
    expect(handedOver(was, { ...both, transferContractSupervisors: false })).to.deep.equal({
      ownerId: 'heir',
      ownerSuperiorId: 'leaver',
      stoodIn: false,
    });
    expect(handedOver(was, { ...both, transferContracts: false, transferContractSupervisors: false })).to.deep.equal({
      ...was,
      stoodIn: false,
    });
  });
});
