import { expect } from 'chai';
import { handedOver, type Responsible } from '../../data-plane-agent/plane/domain/contracts/handover.js';

const both = {
  memberId: 'leaver',
  successorId: 'successor',
  successorSuperiorId: 'boss',
  transferContracts: true,
  transferContractSupervisors: true,
};
const pair = (ownerId: string, ownerSuperiorId: string | null): Responsible => ({ ownerId, ownerSuperiorId });

describe('the owner and superior after a handover', () => {
  const rows: readonly (readonly [what: string, before: Responsible, after: Responsible, stoodIn: boolean])[] = [
    ["another member's contract is unchanged", pair('other', 'chief'), pair('other', 'chief'), false],
    ['an owner is replaced', pair('leaver', 'chief'), pair('successor', 'chief'), false],
    ['an owner without a superior is replaced', pair('leaver', null), pair('successor', null), false],
    ['a superior is replaced', pair('other', 'leaver'), pair('other', 'successor'), false],
    [
      'the successor does not become their own superior by owning a contract',
      pair('leaver', 'successor'),
      pair('successor', 'boss'),
      true,
    ],
    [
      'the successor does not become their own superior by supervising their own contract',
      pair('successor', 'leaver'),
      pair('successor', 'boss'),
      true,
    ],
    [
      'the successor does not become their own superior by replacing a member who was both',
      pair('leaver', 'leaver'),
      pair('successor', 'boss'),
      true,
    ],
    [
      'a contract that the successor both owns and supervises is unchanged',
      pair('successor', 'successor'),
      pair('successor', 'successor'),
      false,
    ],
  ];
  for (const [what, before, after, stoodIn] of rows) {
    it(what, () => expect(handedOver(before, both)).to.deep.equal({ ...after, stoodIn }));
  }

  it('the superior is cleared if the successor has none', () => {
    expect(handedOver(pair('leaver', 'successor'), { ...both, successorSuperiorId: null })).to.deep.equal({
      ownerId: 'successor',
      ownerSuperiorId: null,
      stoodIn: true,
    });
  });

  it('each of the two handovers is optional', () => {
    const was = pair('leaver', 'leaver');
    expect(handedOver(was, { ...both, transferContracts: false })).to.deep.equal({
      ownerId: 'leaver',
      ownerSuperiorId: 'successor',
      stoodIn: false,
    });
    expect(handedOver(was, { ...both, transferContractSupervisors: false })).to.deep.equal({
      ownerId: 'successor',
      ownerSuperiorId: 'leaver',
      stoodIn: false,
    });
    expect(handedOver(was, { ...both, transferContracts: false, transferContractSupervisors: false })).to.deep.equal({
      ...was,
      stoodIn: false,
    });
  });
});
