import { expect } from 'chai';
import type { Transaction, Value } from '../../data-plane-agent/base/database/database.js';
import { DueMarks } from '../../data-plane-agent/plane/store/due-work.js';
import { FieldValueStore } from '../../data-plane-agent/plane/store/field-values.js';
import { aField } from '../support/fields.js';
import { forEachPlane } from '../support/plane.js';
import { aContract } from '../support/samples.js';

describe('the statements of custom fields', () => {
  forEachPlane(
    (name, makePlane) => {
      it('scan contracts with values in the order of their index, and find previous values by key', async () => {
        const t = makePlane();
        const field = await aField(t);
        for (let i = 0; i < 3; i++)
          await t.plane.createContract(aContract(i === 0 ? {} : { dynamicFields: { [field.id]: 'x' } }));
        const asked: (readonly [sql: string, values: readonly Value[]])[] = [];
        const plans = await t.database.write(t.call, async (tx) => {
          const all: Transaction['all'] = (sql, values = []) => {
            asked.push([sql, values]);
            return tx.all(sql, values);
          };
          const reported: Transaction = Object.assign(Object.create(tx) as Transaction, { all });
          let walked = 0;
          for await (const step of new FieldValueStore(reported, t.call, new DueMarks()).walk(field.id))
            walked += step.length;
          expect(walked).to.equal(2);
          // PostgreSQL would scan a table of so few rows.
          if (name === 'postgres')
            for (const way of ['seqscan', 'bitmapscan', 'sort']) await tx.run(`SET LOCAL enable_${way} = off`);
          const found: string[] = [];
          for (const [sql, values] of asked)
            found.push(JSON.stringify(await tx.all(`EXPLAIN ${name === 'sqlite' ? 'QUERY PLAN ' : ''}${sql}`, values)));
          return found;
        });
        const forms = name === 'sqlite' ? 'sqlite_autoindex_dynamic_field_forms_1' : 'dynamic_field_forms_pkey';
        expect(plans).to.have.length(3);
        for (const [i, index] of ['contracts_with_values', forms, forms].entries()) expect(plans[i]).to.contain(index);
        for (const plan of plans) expect(plan).not.to.match(/USE TEMP B-TREE|Sort Key/);
      });
    },
    { only: ['sqlite', 'postgres'] },
  );
});
