import { expect } from 'chai';
import { ChangeRecorder } from '../../data-plane-agent/plane/store/change-recorder.js';
import { LifecycleStore } from '../../data-plane-agent/plane/store/lifecycle.js';
import { explaining } from '../support/explaining.js';
import { forEachPlane } from '../support/plane.js';
import { aContract } from '../support/samples.js';

describe('the query for the stages of the default template', () => {
  forEachPlane((name, makePlane) => {
    it('finds the template and its stages by indexes, in their order', async () => {
      const { plane, call, database } = makePlane();
      await plane.createContract(aContract()); // writes the shipped templates
      const plans: string[] = [];
      await database.read(call, async (tx) => {
        if (name === 'postgres') await tx.get("SELECT set_config('enable_seqscan', 'off', true)"); // there are few rows
        const explained = new LifecycleStore(explaining(tx, plans), call, new ChangeRecorder());
        const asked = new LifecycleStore(tx, call, new ChangeRecorder());
        const stages = await explained.defaultStages();
        expect(stages).to.have.length.greaterThan(1);
        expect(stages).to.deep.equal(await asked.stages((await asked.defaultTemplate()).id));
      });
      expect(plans).to.have.length(1);
      // A tenant has few templates: those of its primary key are as few as the default ones.
      expect(plans[0]).to.match(/lifecycle_templates_(default|pkey)/);
      expect(plans[0]).to.match(
        /lifecycle_stages USING INDEX|Index (Only )?Scan using lifecycle_stages\w* on lifecycle_stages/,
      );
      expect(plans[0]).to.not.match(/Seq Scan|SCAN lifecycle/);
    });
  });
});
