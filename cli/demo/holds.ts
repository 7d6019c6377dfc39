import { addDays } from '../../data-plane-agent/base/day.js';
import type { HoldInput } from '../../data-plane-agent/plane/contract/records/collections.js';
import { planeOf, type Desk } from './desk.js';

/** Holds two overdue lines: one whose customer has promised to pay, and one whose customer disputes it. */
export async function holdLines(desk: Desk): Promise<void> {
  const plane = planeOf(desk, 'lin');
  // The first one is the line that the demo's commands settle.
  const { items } = await plane.listCollections({ tab: 'overdue', pageSize: 3 });
  const [, promised, disputed] = items;
  const holds: readonly (readonly [typeof promised, HoldInput])[] = [
    [
      promised,
      { kind: 'promise', until: addDays(desk.tenant.day, 10), note: 'Promised by phone; waits for a signature.' },
    ],
    [disputed, { kind: 'dispute', note: 'The customer says that two of the machines were returned a month earlier.' }],
  ];
  for (const [line, hold] of holds) if (line) await plane.setPaymentHold({ paymentId: line.id, ...hold });
}
