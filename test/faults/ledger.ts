import type { Client } from '../support/http.js';

export interface Owner {
  readonly subjectId: string;
  readonly ownerId: string;
}

/** The client's ledger of sent and acknowledged requests, based on the server's answers only. */
export class Ledger {
  /** Id by contract number. */
  readonly acknowledged = new Map<string, string>();
  /** The number of creates that were sent and never answered. */
  unanswered = 0;
  /** The number answered with `Idempotency-Replayed`: committed before, but the client did not get the answer. */
  replayed = 0;
  private readonly waiting: number[];

  constructor(
    readonly count: number,
    private readonly owner: Owner,
  ) {
    this.waiting = Array.from({ length: count }, (_, i) => i);
  }

  /**
   * Sends concurrent creates, each with its own key, until `until` have been acknowledged; then calls `whenReached`
   * once, while others are in flight. Requests that a killed server did not answer are resent in the next call with the
   * same key.
   */
  async enter(
    api: Client,
    {
      inFlight,
      until,
      whenReached,
    }: { readonly inFlight: number; readonly until: number; readonly whenReached: () => Promise<void> },
  ): Promise<void> {
    let reached: Promise<void> | undefined;
    const work = async (): Promise<void> => {
      for (let i = this.waiting.shift(); i !== undefined; i = this.waiting.shift()) {
        if (!(await this.send(api, i))) {
          this.waiting.unshift(i);
          if (!reached) throw new Error('the server stopped answering before it was killed');
          return;
        }
        if (this.acknowledged.size >= until) reached ??= whenReached();
      }
    };
    await Promise.all(Array.from({ length: inFlight }, work));
    await reached;
  }

  private async send(api: Client, i: number): Promise<boolean> {
    const answer = await api
      .post<{ id: string }>('/contracts', contractBody(i, this.owner), {
        headers: { 'Idempotency-Key': `ledger-${i}` },
      })
      .catch(() => undefined); // the server was killed: the request counts as unanswered
    if (!answer) {
      this.unanswered += 1;
      return false;
    }
    if (answer.status !== 201) throw new Error(`${contractNo(i)}: ${answer.status} ${answer.text}`);
    if (answer.headers.get('idempotency-replayed') === 'true') this.replayed += 1;
    this.acknowledged.set(contractNo(i), answer.body.id);
    return true;
  }
}

export const contractNo = (i: number): string => `L-${String(i).padStart(4, '0')}`;

const contractBody = (i: number, owner: Owner) => ({
  archiveCode: `A-${i}`,
  contractNo: contractNo(i),
  projectName: `Crane ${i}`,
  ...owner,
  partyA: 'Duebook GmbH',
  partyB: '上海远东机械有限公司',
  equipmentName: 'Tower crane',
  equipmentModel: 'T-9',
  quantity: 3,
  unitPrice: 100 + i,
  paymentMethod: 'bank_transfer',
  startDate: '2026-01-01',
  endDate: '2026-12-31',
  payments: [
    { period: '1', dueDate: '2026-02-01', amount: 100 + i, receivedAmount: 100 + i },
    { period: '2', dueDate: '2026-06-01', amount: 100.5 + i },
    { period: '3', dueDate: '2026-10-01', amount: 99.5 + i },
  ],
  terms: [
    { kind: 'delivery', title: 'Delivery', note: 'At the gate.' },
    { kind: 'payment', title: 'Payment', note: 'In three parts.' },
  ],
  extraNotes: [{ label: 'Contact', value: 'ext. 214' }],
});
