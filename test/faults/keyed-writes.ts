import { expect } from 'chai';
import SqliteConnection from 'better-sqlite3';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AnalyticsSummary } from '../../data-plane-agent/plane/contract/records/analytics.js';
import type { PaymentStats } from '../../data-plane-agent/plane/contract/records/lines.js';
import type { Answer, Client, DomainError } from '../support/http.js';
import { aContract, aLine } from '../support/samples.js';

interface Line {
  readonly id: string;
  readonly contractNo: string;
  readonly amount: number;
  /** What acknowledged requests have recorded. */
  received: number;
}

interface Write {
  readonly key: string;
  readonly path: string;
  readonly body: object;
  acknowledged(answer: Answer<Made>): void;
}

interface Made {
  readonly id: string;
  readonly contractNo: string;
  readonly payments: readonly { readonly id: string }[];
}

interface ListedContract {
  readonly id: string;
  readonly contractNo: string;
  readonly receivedAmount: number;
  readonly receivableAmount: number;
}

/** How long a client waits before it sends a request again; `Retry-After` would take the time of the test. */
const PAUSE_MS = 150;
/** A request that has no answer after so many is a failure of the test. */
const MOST_TRIES = 400;

/**
 * Clients that create contracts and record receipts, each with an idempotency key, and their ledger: what they were
 * answered. A request whose outcome is unknown is sent again with its key until there is an answer. Of those that did
 * not run by their answer, some are given up, and must not be found later.
 */
export class KeyedWrites {
  readonly counts = { sent: 0, acknowledged: 0, unknown: 0, unavailable: 0, unanswered: 0, givenUp: 0, replayed: 0 };
  private readonly contracts = new Map<string, string>();
  private readonly lines: Line[] = [];
  private receipts = 0;
  private readonly given: { readonly subjectId: string; readonly ownerId: string };
  private readonly random: () => number;

  constructor({
    random,
    ...given
  }: {
    readonly subjectId: string;
    readonly ownerId: string;
    /** From 0 to 1. */
    readonly random: () => number;
  }) {
    this.given = given;
    this.random = random;
  }

  /** Until `count` requests have been acknowledged since the beginning. `api` is asked for each request. */
  async run({
    api,
    clients,
    count,
    onAcknowledged = () => undefined,
  }: {
    readonly api: () => Client;
    readonly clients: number;
    readonly count: number;
    readonly onAcknowledged?: (acknowledged: number) => void;
  }): Promise<void> {
    let begun = this.counts.acknowledged;
    const work = async (): Promise<void> => {
      while (begun < count) {
        begun += 1;
        const isDone = await this.settle(this.next(), api);
        if (isDone) onAcknowledged(this.counts.acknowledged);
        else begun -= 1;
      }
    };
    await Promise.all(Array.from({ length: clients }, work));
  }

  /** A request while the agent is away: it is given up if nothing ran, as it should be. */
  async unlessAway(api: Client): Promise<void> {
    await this.settle(this.next(), () => api, { givesUp: 1 });
  }

  /** Sends a request until it is acknowledged; false if it is given up, which some are when nothing ran. */
  private async settle(write: Write, api: () => Client, { givesUp = 0.5 } = {}): Promise<boolean> {
    const { counts } = this;
    let mayHaveRun = false;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const answer = await api()
        .post<Made>(write.path, write.body, { headers: { 'Idempotency-Key': write.key } })
        .catch(() => undefined); // the control plane was killed
      const code = answer && answer.status >= 400 ? (answer.body as unknown as DomainError).error.code : undefined;
      if (!answer) {
        counts.unanswered += 1;
        mayHaveRun = true;
      } else if (answer.status === 201) {
        counts.acknowledged += 1;
        if (answer.headers.get('idempotency-replayed') === 'true') counts.replayed += 1;
        write.acknowledged(answer);
        return true;
      } else if (answer.status === 504 && code === 'DATA_PLANE_OUTCOME_UNKNOWN') {
        const { operationId } = (answer.body as unknown as DomainError).error.details;
        if (typeof operationId !== 'string') throw new Error(`it is not said which operation: ${answer.text}`);
        counts.unknown += 1;
        mayHaveRun = true;
      } else if (answer.status === 503) {
        if (code !== 'DATA_PLANE_UNAVAILABLE' || answer.headers.get('retry-after') === null)
          throw new Error(`not the answer of an agent that is away: ${answer.text}`);
        counts.unavailable += 1;
        if (!mayHaveRun && this.random() < givesUp) {
          counts.givenUp += 1;
          return false;
        }
      } else if (!(mayHaveRun && answer.status === 409 && code === 'IDEMPOTENCY_IN_PROGRESS'))
        throw new Error(`${write.path}: ${answer.status} ${answer.text}`);
      await sleep(PAUSE_MS);
    }
    throw new Error(`${write.path} was not answered in ${MOST_TRIES} attempts`);
  }

  private next(): Write {
    const number = (this.counts.sent += 1);
    const key = `keyed-write-${number}`;
    const line = this.lines[Math.floor(this.random() * this.lines.length)];
    const amount = 1 + Math.floor(this.random() * 100);
    // An eighth creates contracts; the others record receipts.
    if (!line || number % 8 === 0) return this.creation(key, { number, amount });
    return {
      key,
      path: `/payments/${line.id}/receipts`,
      body: { amount },
      acknowledged: () => {
        line.received += amount;
        this.receipts += 1;
      },
    };
  }

  private creation(key: string, { number, amount }: { readonly number: number; readonly amount: number }): Write {
    const contractNo = `K-${number}`;
    const payments = [aLine({ amount: amount * 1_000 })];
    return {
      key,
      path: '/contracts',
      body: aContract({ ...this.given, contractNo, archiveCode: contractNo, payments }),
      acknowledged: ({ body }) => {
        this.contracts.set(contractNo, body.id);
        this.lines.push({ id: body.payments[0]?.id ?? '', contractNo, amount: amount * 1_000, received: 0 });
      },
    };
  }

  /** Every acknowledged write is there once, nothing else is, and all totals equal the lines. */
  async check(api: Client): Promise<void> {
    const listed: ListedContract[] = [];
    for (let page = 1; ; page += 1) {
      const { status, body, text } = await api.get<{ items: ListedContract[]; total: number }>('/contracts', {
        query: { page, pageSize: 200, sort: 'contractNo' },
      });
      expect(status, text.slice(0, 500)).to.equal(200);
      expect(body.total).to.equal(this.contracts.size);
      listed.push(...body.items);
      if (page * 200 >= body.total) break;
    }
    expect(listed).to.have.length(this.contracts.size);
    expect(new Map(listed.map(({ contractNo, id }) => [contractNo, id]))).to.deep.equal(
      new Map([...this.contracts].toSorted(([one], [other]) => (one < other ? -1 : 1))),
    );
    const expected = new Map(this.lines.map(({ contractNo, amount, received }) => [contractNo, { amount, received }]));
    for (const { contractNo, receivableAmount, receivedAmount } of listed)
      expect({ amount: receivableAmount, received: receivedAmount }, contractNo).to.deep.equal(
        expected.get(contractNo),
      );
    const sum = (of: (line: Line) => number): number => this.lines.reduce((total, line) => total + of(line), 0);
    const summary = (await api.get<AnalyticsSummary>('/analytics/summary')).body;
    const receivableAmount = sum(({ amount }) => amount);
    const receivedAmount = sum(({ received }) => received);
    expect(summary).to.include({
      contractCount: this.contracts.size,
      receivableAmount,
      receivedAmount,
      outstandingAmount: sum(({ amount, received }) => Math.max(0, amount - received)),
    });
    const stats = (await api.get<PaymentStats>('/payments/stats')).body;
    expect(stats).to.include({ amount: receivableAmount, received: receivedAmount });
    expect(stats.counts.all).to.equal(this.lines.length);
  }

  /** The same in the agent's database. */
  checkStored(path: string): void {
    const database = new SqliteConnection(path, { readonly: true });
    try {
      expect(database.pragma('integrity_check', { simple: true })).to.equal('ok');
      expect(
        database
          .prepare(
            `SELECT (SELECT count(*) FROM contracts) AS contracts, (SELECT count(*) FROM payment_lines) AS lines,
               (SELECT count(*) FROM receipts) AS receipts,
               (SELECT count(*) FROM audit_log WHERE action = 'createContract' AND record_kind = 'contract') AS created,
               (SELECT sum(received_minor) FROM contracts) - (SELECT sum(delta_minor) FROM receipts) AS difference,
               (SELECT count(*) FROM contracts c WHERE (c.receivable_minor, c.received_minor, c.outstanding_minor) IS NOT
                 (SELECT sum(amount_minor), sum(received_minor), sum(outstanding_minor) FROM payment_lines l WHERE l.contract_id = c.id)) AS wrong`,
          )
          .get(),
      ).to.deep.equal({
        contracts: this.contracts.size,
        lines: this.contracts.size,
        receipts: this.receipts,
        created: this.contracts.size,
        difference: 0,
        wrong: 0,
      });
    } finally {
      database.close();
    }
  }
}
