import { expect } from 'chai';
import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import { ChangeRecorder } from '../../data-plane-agent/plane/store/change-recorder.js';
import { ExtractionStore } from '../../data-plane-agent/plane/store/extractions.js';
import { OwnershipStore } from '../../data-plane-agent/plane/store/ownership.js';
import { ReminderStore } from '../../data-plane-agent/plane/store/reminders.js';
import { RollupDelta } from '../../data-plane-agent/plane/store/rollup-delta.js';
import { Totals } from '../../data-plane-agent/plane/store/totals.js';
import { explaining } from '../support/explaining.js';
import { forEachPlane } from '../support/plane.js';

/** In production nothing gathers statistics on SQLite, whose planner then takes a tenant for one with ten rows. */
describe('the plans of SQLite without statistics', () => {
  forEachPlane(
    (_name, makePlane) => {
      const plansOf = async (work: (tx: Transaction, call: Call) => Promise<unknown>): Promise<string[]> => {
        const { database, call } = makePlane();
        return database.read(call, async (tx) => {
          const plans: string[] = [];
          await work(explaining(tx, plans), call);
          return plans;
        });
      };
      const reminders = (tx: Transaction, call: Call) =>
        new ReminderStore(tx, call, { recorder: new ChangeRecorder(), totals: new Totals() });

      for (const lines of [1, 100])
        it(`the reminders of ${lines} lines are found by the lines`, async () => {
          const ids = Array.from({ length: lines }, () => newId());
          const plans = await plansOf((tx, call) => reminders(tx, call).ofLines(ids));
          expect(plans).to.have.length(1);
          expect(plans[0]).to.contain('reminders_once (tenant_id=? AND payment_id=?)');
        });

      it('the reminders of a message are found by the message', async () => {
        const plans = await plansOf((tx, call) => reminders(tx, call).ofMessage(newId()));
        expect(plans).to.have.length(1);
        expect(plans[0]).to.contain('reminders_by_message (tenant_id=? AND message_id=?)');
      });

      it('the latest extraction for a contract is found by the contract', async () => {
        const plans = await plansOf((tx, call) =>
          new ExtractionStore(tx, call, new ChangeRecorder()).latestOf(newId()),
        );
        expect(plans).to.have.length(1);
        expect(plans[0]).to.contain('extraction_runs_by_contract (tenant_id=? AND contract_id=?)');
      });

      it('the contracts of a member are found by owner and by superior', async () => {
        const plans = await plansOf((tx, call) =>
          new OwnershipStore(tx, call, { recorder: new ChangeRecorder(), rollupDelta: new RollupDelta() }).held(
            newId(),
          ),
        );
        expect(plans).to.have.length(2);
        expect(plans[0]).to.contain('contracts_by_owner (tenant_id=? AND owner_id=?)');
        expect(plans[1]).to.contain('contracts_by_superior (tenant_id=? AND owner_superior_id=?)');
      });
    },
    { only: ['sqlite'] },
  );
});
