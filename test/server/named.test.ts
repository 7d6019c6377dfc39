import { expect } from 'chai';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { receivedAs } from '../../data-plane-agent/plane/contract/received-json.js';
import { changed, jsonWithNames, withNames } from '../../server/endpoints/named.js';
import { JsonBody } from '../../server/http/reply.js';

type Caller = Parameters<typeof changed>[1];
type Directory = Parameters<typeof withNames>[1];

describe('a contract with the names', () => {
  const directory = {
    subjectName: (id: string) => `Müller & 大 "${id}"`,
    memberName: (id: string) => (id === 'gone' ? null : `name of ${id}`),
  } as Directory;
  const contractOf = (changes: object = {}) =>
    ({
      id: 'c',
      version: 3,
      partyA: 'é 大 "quoted" \\ \u2028',
      payments: [{ id: 'l', note: '}' }],
      subjectId: 's',
      ownerId: 'o',
      ownerSuperiorId: null,
      createdBy: 'gone',
      updatedBy: null,
      ...changes,
    }) as unknown as ContractDetail;

  it('has the JSON that an agent sent, as it was, and then the names', async () => {
    const contract = contractOf({ ownerSuperiorId: 'boss' });
    const sent = JSON.stringify(contract).replace('"version":3', '"version": 3');
    receivedAs(contract, Buffer.from(sent));
    const json = (await jsonWithNames(contract, directory)).toString();
    expect(json.startsWith(sent.slice(0, -1))).to.equal(true);
    expect(JSON.parse(json)).to.deep.equal(withNames(contract, directory));
    expect(Object.keys(JSON.parse(json) as object)).to.deep.equal(Object.keys(withNames(contract, directory)));
  });

  it('is the same from a data plane of this process', async () => {
    for (const contract of [contractOf(), contractOf({ updatedBy: 'o', createdBy: null })]) {
      const here = (await jsonWithNames(contract, directory)).toString();
      expect(JSON.parse(here)).to.deep.equal(withNames(contract, directory));
      const received = { ...contract };
      receivedAs(received, Buffer.from(JSON.stringify(contract)));
      expect((await jsonWithNames(received, directory)).toString()).to.equal(here);
    }
  });

  it('is answered with its version as entity tag', async () => {
    const caller = {
      principal: { tenant: { id: 't' } },
      services: { directory: { of: () => Promise.resolve(directory) } },
    } as unknown as Caller;
    const { body, headers } = await changed(contractOf(), caller);
    expect(headers).to.deep.equal({ ETag: '"3"' });
    expect(body instanceof JsonBody && JSON.parse(body.bytes.toString())).to.deep.equal(
      withNames(contractOf(), directory),
    );
  });
});
