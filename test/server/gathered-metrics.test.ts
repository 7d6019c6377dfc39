import { expect } from 'chai';
import { AggregatorRegistry } from 'prom-client';
import { createMetrics, type MeasuredMetrics } from '../../data-plane-agent/base/http/metrics.js';
import { GatheredMetrics } from '../../server/gathered-metrics.js';

const SERVED = { method: 'GET', route: '/contracts', status: 200, durationMs: 3 };

/** What a worker has measured that has answered so many requests. */
function measuredAfter(requests: number): Promise<MeasuredMetrics> {
  const metrics = createMetrics({ token: 'a token', pools: {} });
  for (let i = 0; i < requests; i++) metrics.observe(SERVED as Parameters<typeof metrics.observe>[0]);
  return metrics.measured();
}

const requestsIn = async (parts: readonly MeasuredMetrics[] | null): Promise<string | undefined> =>
  parts === null
    ? undefined
    : /^duebook_http_requests_total\{.*\} (\d+)$/m.exec(await AggregatorRegistry.aggregate([...parts]).metrics())?.[1];

describe('the metrics of several processes', () => {
  const workers = async (gathered: GatheredMetrics, counts: Readonly<Record<number, number>>) =>
    Promise.all(
      Object.entries(counts).map(async ([id, requests]) => {
        const metrics = await measuredAfter(requests);
        return { id: Number(id), ask: (requestId: number) => gathered.answered(requestId, metrics) };
      }),
    );

  it('are sums, which do not fall when a worker ends that was asked before', async () => {
    const gathered = new GatheredMetrics();
    expect(await requestsIn(await gathered.of(await workers(gathered, { 1: 5, 2: 7 })))).to.equal('12');
    await gathered.workerEnded(2);
    expect(await requestsIn(await gathered.of(await workers(gathered, { 1: 6, 3: 0 })))).to.equal('13');
    await gathered.workerEnded(1);
    expect(await requestsIn(await gathered.of(await workers(gathered, { 3: 1 })))).to.equal('14');
  });

  it('keep what the asking worker has counted, but no memory of one that has ended', async () => {
    const gathered = new GatheredMetrics();
    gathered.note(1, await measuredAfter(4));
    await gathered.workerEnded(1);
    const parts = await gathered.of([]);
    expect(await requestsIn(parts)).to.equal('4');
    expect(parts?.flat().map(({ name }) => name)).not.to.include('process_resident_memory_bytes');
  });

  it('are not shown without a worker that does not answer', async () => {
    const gathered = new GatheredMetrics(20);
    const answering = await workers(gathered, { 1: 5 });
    let late: number | undefined;
    expect(await gathered.of([...answering, { id: 2, ask: (requestId) => void (late = requestId) }])).to.equal(null);
    gathered.answered(late ?? 0, await measuredAfter(1)); // has no effect any more
    expect(await requestsIn(await gathered.of(answering))).to.equal('5');
  });
});
