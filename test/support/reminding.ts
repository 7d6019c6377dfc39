import type { ReminderRun } from '../../server/collections/collections.schemas.js';
import type {
  ReminderDelivery,
  ReminderDeliveryPage,
} from '../../data-plane-agent/plane/contract/records/collections.js';
import type { ContractDetail, ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { makeTenant, signIn, type MadeTenant } from './accounts.js';
import type { Answer, Client } from './http.js';
import { aContract, aLine } from './samples.js';
import type { TestServer } from './server.js';

const CHANNELS = '/tenant-admin/notification-channels';

/** An organisation whose owner sends reminders. */
export interface Reminding {
  readonly made: MadeTenant;
  /** Signed in anew at each call: the clock of a test moves by days. */
  owner(): Promise<Client>;
  /** The first one is the default. */
  addChannel(body: object): Promise<{ id: string }>;
  enter(lines: readonly Partial<PaymentLineInput>[], changes?: Partial<ContractInput>): Promise<ContractDetail>;
  run(client?: Client, headers?: Readonly<Record<string, string>>): Promise<Answer<ReminderRun>>;
  /** All deliveries, in the order in which they were decided on. */
  deliveries(query?: Readonly<Record<string, string>>): Promise<ReminderDelivery[]>;
}

export async function reminding(server: TestServer, settings: object = {}): Promise<Reminding> {
  const made = await makeTenant(server.services);
  const owner = async () => (await signIn(server.client, { tenant: made.tenant, member: made.owner })).client;
  const expected = <T>({ status, body, text }: Answer<T>, wanted: number): T => {
    if (status !== wanted) throw new Error(`answered ${status}: ${text}`);
    return body;
  };
  expected(await (await owner()).patch('/tenant-admin/settings', { timezone: 'Asia/Shanghai', ...settings }), 200);
  return {
    made,
    owner,
    addChannel: async (body) => expected(await (await owner()).post<{ id: string }>(CHANNELS, body), 201),
    enter: async (lines, changes = {}) =>
      expected(
        await (
          await owner()
        ).post<ContractDetail>(
          '/contracts',
          aContract({
            subjectId: made.subjectId,
            ownerId: made.owner.id,
            payments: lines.map((line) => aLine(line)),
            ...changes,
          }),
        ),
        201,
      ),
    run: async (client, headers = {}) =>
      (client ?? (await owner())).post<ReminderRun>('/collections/run-due-reminders', undefined, { headers }),
    deliveries: async (query = {}) =>
      expected(
        await (
          await owner()
        ).get<ReminderDeliveryPage>('/collections/deliveries', { query: { pageSize: '200', ...query } }),
        200,
      ).items.toReversed(),
  };
}

export const shownDelivery = ({
  step,
  occurrence,
  status,
  reason,
}: Pick<ReminderDelivery, 'step' | 'occurrence' | 'status' | 'reason'>): string =>
  `${step}${occurrence > 1 ? ` ${occurrence}` : ''} ${status}${reason === null ? '' : ` ${reason}`}`;
