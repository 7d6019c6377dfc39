import { expect } from 'chai';
import type { ContractDetail, ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { administration, type Administration } from './administration.js';
import { aContract, aLine } from './samples.js';
import type { TestServer } from './server.js';

export const CHANNELS = '/tenant-admin/notification-channels';

/** An organisation in Shanghai whose owner enters contracts and channels for reminders. */
export interface RemindingOrganisation extends Administration {
  enter(
    lines: readonly Partial<PaymentLineInput>[],
    changes?: Partial<ContractInput>,
  ): Promise<ContractDetail & { readonly line: { readonly contractId: string; readonly paymentId: string } }>;
  addChannel(body: object): Promise<string>;
}

export async function remindingOrganisation(server: TestServer): Promise<RemindingOrganisation> {
  const org = await administration(server);
  const { asOwner, subjectId, owner } = org;
  expect((await asOwner.patch('/tenant-admin/settings', { timezone: 'Asia/Shanghai' })).status).to.equal(200);
  return {
    ...org,
    enter: async (lines, changes = {}) => {
      const { status, body, text } = await asOwner.post<ContractDetail>(
        '/contracts',
        aContract({ subjectId, ownerId: owner.id, payments: lines.map((line) => aLine(line)), ...changes }),
      );
      expect(status, text).to.equal(201);
      return { ...body, line: { contractId: body.id, paymentId: body.payments[0]?.id ?? '' } };
    },
    addChannel: async (channel) => {
      const { status, body, text } = await asOwner.post<{ id: string }>(CHANNELS, channel);
      expect(status, text).to.equal(201);
      return body.id;
    },
  };
}
