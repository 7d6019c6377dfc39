import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { EXPORTS_AT_ONCE, limitedExport } from '../../server/spreadsheets/open-exports.js';

async function* file(): AsyncGenerator<string, void, void> {
  yield 'first';
  yield 'last';
}

describe('exports of one tenant', () => {
  const begun = async (tenantId: string) => {
    const pieces = limitedExport(tenantId, file());
    expect((await pieces.next()).value).to.equal('first');
    return pieces;
  };
  const refusalOf = (tenantId: string): Promise<unknown> =>
    limitedExport(tenantId, file())
      .next()
      .then(
        () => 'begun',
        (error: unknown) => (isFailure(error, 'RATE_LIMITED') ? error.details : error),
      );

  it('have a limit of concurrent ones, independent of other tenants', async () => {
    const [tenant, other] = [newId(), newId()];
    const open = await Promise.all(Array.from({ length: EXPORTS_AT_ONCE }, () => begun(tenant)));
    expect(await refusalOf(tenant)).to.deep.equal({ retryAfterSeconds: 30 });
    await (await begun(other)).return();
    for (const pieces of open) await pieces.return();
  });

  it('free their slot when they end, are cancelled or fail', async () => {
    const tenant = newId();
    const open = await Promise.all(Array.from({ length: EXPORTS_AT_ONCE }, () => begun(tenant)));
    const [ending, givenUp, broken, ...rest] = open;
    expect(await ending?.next()).to.deep.equal({ value: 'last', done: false });
    expect(await ending?.next()).to.deep.equal({ value: undefined, done: true });
    await givenUp?.return();
    await broken?.throw(new Error('the client disconnected')).catch(() => undefined); // it throws what it is given
    const later = await Promise.all([begun(tenant), begun(tenant), begun(tenant)]);
    expect(await refusalOf(tenant)).to.deep.equal({ retryAfterSeconds: 30 });
    for (const pieces of [...rest, ...later]) await pieces.return();
  });
});
