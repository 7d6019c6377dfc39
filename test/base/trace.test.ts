import { expect } from 'chai';
import { setImmediate as turn } from 'node:timers/promises';
import { createLog } from '../../data-plane-agent/base/log.js';
import { currentTrace, traceOf, withTrace } from '../../data-plane-agent/base/trace.js';

const [TRACE, PARENT] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];

describe('a traceparent', () => {
  it('is accepted in this and in later versions, and passed on as it is', () => {
    for (const traceparent of [`00-${TRACE}-${PARENT}-01`, `00-${TRACE}-${PARENT}-00`, `cc-${TRACE}-${PARENT}-01-more`])
      expect(traceOf(traceparent)).to.deep.equal({ traceId: TRACE, traceparent });
  });

  it('is ignored if it is not valid', () => {
    for (const traceparent of [
      undefined,
      '',
      7,
      TRACE,
      `00-${TRACE}-${PARENT}`,
      `00-${TRACE.toUpperCase()}-${PARENT}-01`,
      `00-${TRACE}-${PARENT}-01-more`,
      `ff-${TRACE}-${PARENT}-01`,
      `00-${'0'.repeat(32)}-${PARENT}-01`,
      `00-${TRACE}-${'0'.repeat(16)}-01`,
      `00-${TRACE}-${PARENT}-01\n`,
      `cc-${TRACE}-${PARENT}-01-${'x'.repeat(500)}`,
    ])
      expect(traceOf(traceparent), String(traceparent)).to.equal(undefined);
  });

  it('is that of the work and of what it waits for, and is in its log lines alone', async () => {
    const lines: Record<string, unknown>[] = [];
    const log = createLog({
      level: 'info',
      name: 'test',
      destination: { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
    });
    const work = withTrace(traceOf(`00-${TRACE}-${PARENT}-01`), async () => {
      await turn();
      log.info('within');
      log.child({ part: 1 }).info({ fact: 2 }, 'within, too');
      return currentTrace()?.traceId;
    });
    log.info('beside');
    expect(await work).to.equal(TRACE);
    expect(lines.map(({ msg, traceId }) => [msg, traceId])).to.deep.equal([
      ['beside', undefined],
      ['within', TRACE],
      ['within, too', TRACE],
    ]);
    expect(withTrace(undefined, currentTrace)).to.equal(undefined);
  });
});
