import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { addDays, daysBetween, type Day } from '../../data-plane-agent/base/day.js';
import type {
  ReminderDelivery,
  ReminderDeliveryPage,
} from '../../data-plane-agent/plane/contract/records/collections.js';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { client, type Client } from '../support/http.js';
import { needsPostgres } from '../support/postgres.js';
import type { Running } from '../support/process.js';
import { program } from '../support/programs.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { aContract, aLine } from '../support/samples.js';
import { install, OWNER, register, type Installation } from './installation.js';

const DAYS = 31;
const FIRST: Day = '2027-03-01';
const ZONE = 'Europe/Berlin'; // its clocks are moved on 28 March
const LINES = 30;
/** The hour of the day, in UTC, at which each day begins for the servers: after the hour of reminders in the zone. */
const HOUR = 10;

/** Three replicas on PostgreSQL, one server on SQLite; a server is killed and started again on every third day. */
const INSTALLATIONS = [
  { kind: 'sqlite', replicas: 1 },
  { kind: 'postgres', replicas: 3 },
] as const;

/** What must be sent of a line that is never paid, with seven days of lead and of escalation: by day. */
function due(dueDate: Day): Map<Day, string> {
  const steps: [number, string][] = [
    [-7, 'pre_due 1'],
    [0, 'due_day 1'],
    [1, 'overdue_1 1'],
    [7, 'escalated 1'],
    [14, 'escalated 2'],
    [21, 'escalated 3'],
    [28, 'escalated 4'],
  ];
  return new Map(steps.map(([days, step]) => [addDays(dueDate, days), step]));
}

describe('a month of reminders with servers that are killed', () => {
  for (const { kind, replicas } of INSTALLATIONS) {
    describe(`on ${kind}, ${replicas} at once`, function () {
      if (kind === 'postgres') needsPostgres();
      this.timeout(240_000); // an idle machine needs a quarter of it

      let folder: string;
      let receiver: Receiver;
      let installation: Installation | undefined;
      const servers: Running[] = [];
      let deliveries: readonly ReminderDelivery[] = [];
      let dueDates = new Map<string, Day>();
      let kills = 0;

      before('send the reminders of a month', async () => {
        folder = await mkdtemp(join(tmpdir(), 'duebook-month-'));
        const file = join(folder, 'clock');
        const setTo = async (instant: number) => {
          await writeFile(`${file}.next`, String(instant - Date.now()));
          await rename(`${file}.next`, file);
          await sleep(60); // until each server has read it
        };
        await setTo(Date.parse(`${FIRST}T00:00:00Z`));
        receiver = await startReceiver();
        let day = 0;
        let requests = 0;
        // Each message at most once, and on the days on which a server is killed: the clock jumps by days, and a message is
        // given up after two, so that it may be delayed by one only.
        const refused = new Set<unknown>();
        const isKillDay = () => day % 3 === 0;
        receiver.answers(({ headers }) => {
          const id = headers['webhook-id'];
          const isRefused = isKillDay() && (requests += 1) % 3 === 0 && !refused.has(id);
          if (isRefused) refused.add(id);
          return { status: isRefused ? 503 : 200 };
        });
        const env = { MOVED_CLOCK: file, OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8', JWT_ACCESS_TTL: '24h' };
        installation = await install(kind, { durable: false, env });
        const preload = ['--import', program('test/support/moved-clock.ts')];
        const start = async () => void servers.push(await (installation as Installation).start(preload));
        await start();
        const first = servers[0] as Running;
        const { owner, token: registered } = await register(first.origin);
        let token = registered;
        const anyone = async (): Promise<Client> => {
          for (;;) {
            const alive = servers.filter((one) => one.running());
            const server = alive[Math.floor(Math.random() * alive.length)];
            if (server) return client(server.origin, token);
            await sleep(20);
          }
        };
        dueDates = await setUp(client(first.origin, token), { ...owner, target: receiver.url });
        while (servers.length < replicas) await start();
        for (; day < DAYS; day++) {
          const now = Date.parse(`${addDays(FIRST, day)}T${HOUR}:00:00Z`);
          await setTo(now);
          token = await signIn(await anyone());
          const triggered = Promise.all([sweepWith(anyone), sweepWith(anyone)]);
          if (isKillDay()) {
            await sleep(Math.random() * 120);
            const victim = servers.splice(Math.floor(Math.random() * servers.length), 1)[0];
            await victim?.kill();
            kills += 1;
            await start();
          }
          await triggered;
          await attempted(await anyone(), now);
        }
        for (let minutes = 2; (await all(await anyone())).some(({ status }) => status === 'queued'); minutes += 2) {
          if (minutes > 120) break; // the test below says what is left
          await setTo(Date.parse(`${addDays(FIRST, DAYS - 1)}T${HOUR}:00:00Z`) + minutes * 60_000);
          await sleep(1_200); // the servers look for due messages once a second
        }
        deliveries = await all(await anyone());
      });

      after(async () => {
        for (const server of servers) await server.kill();
        await installation?.remove();
        await receiver.stop();
        await rm(folder, { recursive: true, force: true });
      });

      it('leaves exactly one decision for each line, step and day', () => {
        const decided = deliveries.map(({ paymentId, step, occurrence, createdAt }) =>
          [paymentId, `${step} ${occurrence}`, createdAt.slice(0, 10)].join(' '),
        );
        const last = addDays(FIRST, DAYS - 1);
        const expected = [...dueDates].flatMap(([paymentId, dueDate]) =>
          [...due(dueDate)].flatMap(([day, step]) =>
            // The first day sends what had come before it.
            day <= last ? [[paymentId, step, day < FIRST ? FIRST : day].join(' ')] : [],
          ),
        );
        expect(decided.toSorted()).to.deep.equal(expected.toSorted());
        expect(kills).to.be.greaterThan(DAYS / 4);
      });

      it('sends each of them, and every message that is received twice has the same id', () => {
        expect(new Set(deliveries.map(({ status }) => status))).to.deep.equal(new Set(['sent']));
        const byId = Map.groupBy(receiver.requests, ({ headers }) => headers['webhook-id']);
        const reminded = [...byId.values()].map((requests) => {
          const about = new Set(
            requests.map(({ body }) => {
              const { paymentId, step } = (JSON.parse(body) as { data: Record<string, unknown> }).data;
              return [paymentId, step].join(' ');
            }),
          );
          expect(about.size, 'one id, one reminder').to.equal(1);
          return [...about][0];
        });
        expect(reminded).to.have.members(deliveries.map(({ paymentId, step }) => [paymentId, step].join(' ')));
      });
    });
  }
});

/** Creates the channel and the lines, due from a week before the month to a week after it. */
async function setUp(
  owner: Client,
  { target, ...ids }: { readonly subjectId: string; readonly ownerId: string; readonly target: string },
): Promise<Map<string, Day>> {
  expect((await owner.patch('/tenant-admin/settings', { timezone: ZONE })).status).to.equal(200);
  const channel = await owner.post('/tenant-admin/notification-channels', { kind: 'webhook', target });
  expect(channel.status, channel.text).to.equal(201);
  const payments = Array.from({ length: LINES }, (_, i) =>
    aLine({ period: `no. ${i}`, dueDate: addDays(FIRST, (i * daysBetween(FIRST, addDays(FIRST, 38))) / LINES + 1) }),
  );
  const { body, status, text } = await owner.post<ContractDetail>('/contracts', aContract({ ...ids, payments }));
  expect(status, text).to.equal(201);
  return new Map(body.payments.map(({ id, dueDate }) => [id, dueDate]));
}

const signIn = async (anyone: Client): Promise<string> => {
  const { email, password, tenantSlug } = OWNER;
  const { body, status, text } = await anyone.post<{ accessToken: string }>('/auth/login', {
    email,
    password,
    tenantSlug,
  });
  expect(status, text).to.equal(200);
  return body.accessToken;
};

/** Triggers a sweep until a server has answered: one that is killed does not. */
async function sweepWith(anyone: () => Promise<Client>): Promise<void> {
  for (;;) {
    const answer = await (await anyone()).post('/collections/run-due-reminders').catch(() => undefined);
    if (answer?.status === 200) return;
    expect(answer?.status ?? 503, answer?.text).to.equal(503);
  }
}

/**
 * Waits until no message is due: each has been tried once, and once more if its retry was due. Messages that were leased
 * when a server died are tried later: nothing changes about them for longer than an attempt takes. Moving on too early
 * does no harm, as whoever holds a lease sends under the same id as whoever takes it over.
 */
async function attempted(owner: Client, now: number): Promise<void> {
  let before = '';
  let unchanged = 0;
  for (const giveUpAt = performance.now() + 30_000; performance.now() < giveUpAt && unchanged < 8; await sleep(250)) {
    const { body } = await owner.get<ReminderDeliveryPage>('/collections/deliveries', {
      query: { status: 'queued', pageSize: '200' },
    });
    const isDue = body.items.some(({ nextAttemptAt }) => nextAttemptAt !== null && Date.parse(nextAttemptAt) <= now);
    if (!isDue && body.items.every(({ attempts }) => attempts > 0)) return;
    const shown = JSON.stringify(body.items.map(({ id, attempts, nextAttemptAt }) => [id, attempts, nextAttemptAt]));
    unchanged = !isDue && shown === before ? unchanged + 1 : 0;
    before = shown;
  }
}

async function all(owner: Client): Promise<ReminderDelivery[]> {
  const found: ReminderDelivery[] = [];
  for (let page = 1; ; page++) {
    const { body } = await owner.get<ReminderDeliveryPage>('/collections/deliveries', {
      query: { page: `${page}`, pageSize: '200' },
    });
    found.push(...body.items);
    if (found.length >= body.total) return found;
  }
}
