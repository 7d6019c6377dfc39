import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { newId } from '../../data-plane-agent/base/ids.js';
import { FIELD_TYPES, type FieldType, type FieldValue } from '../../data-plane-agent/plane/contract/records/fields.js';
import { failureOf } from '../support/failures.js';
import { aField, fieldCommand } from '../support/fields.js';
import { forEachPlane, listedContracts, PLANES, type TestPlane } from '../support/plane.js';
import { aContract } from '../support/samples.js';

describe("changing a custom field's type", () => {
  forEachPlane(
    (name, makePlane) => {
      const toType = (t: Pick<TestPlane, 'plane'>, fieldId: string, type: FieldType, more: object = {}) =>
        fieldCommand(t, 'UpdateFieldType', { fieldId, type, ...more });
      const valueOf = async ({ plane }: Pick<TestPlane, 'plane'>, contractId: string, fieldId: string) =>
        (await plane.getContract({ contractId })).dynamicFields[fieldId];
      /** Contracts with these values, one each, and without a value for `null`. */
      const contractsWith = async (t: TestPlane, fieldId: string, values: readonly (FieldValue | null)[]) => {
        const ids: string[] = [];
        for (const value of values)
          ids.push((await t.plane.createContract(aContract({ dynamicFields: { [fieldId]: value } }))).id);
        return ids;
      };
      const valuesOf = async (t: Pick<TestPlane, 'plane'>, ids: readonly string[], fieldId: string) =>
        Promise.all(ids.map((id) => valueOf(t, id, fieldId)));

      it('converts the values of all contracts, including deleted ones, and keeps their versions', async () => {
        const t = makePlane();
        const field = await aField(t, { defaultValue: '7' });
        const ids = await contractsWith(t, field.id, ['1,200', '-3', null]);
        await t.plane.deleteContract({ contractId: ids[1] ?? '' });
        const done = await toType(t, field.id, 'number');
        expect(done.result).to.deep.equal({
          dryRun: false,
          total: 3,
          converted: 3,
          cleared: 0,
          unchanged: 0,
          samples: [],
        });
        expect([done.field.type, done.field.defaultValue, done.field.version]).to.deep.equal(['number', 7, 2]);
        const read = await t.plane.getContract({ contractId: ids[0] ?? '' });
        expect([read.dynamicFields, read.version]).to.deep.equal([{ [field.id]: 1200 }, 1]);
        expect((await t.plane.restoreContract({ contractId: ids[1] ?? '' })).dynamicFields).to.deep.equal({
          [field.id]: -3,
        });
      });

      it('is refused completely if a value would be lost, with samples', async () => {
        const t = makePlane();
        const field = await aField(t);
        const ids = await contractsWith(t, field.id, ['5', ...Array.from({ length: 22 }, (_, i) => `word ${i}`)]);
        const failure = await failureOf(toType(t, field.id, 'number'));
        const samples = (await listedContracts(t.plane, { pageSize: 200, sort: 'createdAt' })).items
          .filter(({ dynamicFields }) => dynamicFields[field.id] !== '5')
          .slice(0, 20)
          .map(({ id, contractNo, dynamicFields }) => ({ contractId: id, contractNo, value: dynamicFields[field.id] }));
        expect(failure).to.deep.equal({
          code: 'FIELD_CONVERSION_LOSSY',
          details: { total: 23, convertible: 1, lossy: 22, samples },
        });
        expect(await valuesOf(t, ids.slice(0, 2), field.id)).to.deep.equal(['5', 'word 0']);
        expect((await t.plane.listFields({}))[0]).to.deep.equal(field);
      });

      it('shows samples only from contracts that the caller sees', async () => {
        const t = makePlane();
        const field = await aField(t, { visibleRoles: ['manager'] });
        const [mine] = await contractsWith(t, field.id, ['word', 'other']);
        const subjectScope = [(await t.plane.getContract({ contractId: mine ?? '' })).subjectId];
        const { result } = await toType({ plane: t.as({ subjectScope }) }, field.id, 'number', { dryRun: true });
        expect(result?.samples.map(({ contractId, value }) => [contractId, value])).to.deep.equal([[mine, 'word']]);
      });

      it('returns no counts to a caller who does not see the field, and loses no values', async () => {
        const t = makePlane();
        const field = await aField(t, { visibleRoles: ['manager'] });
        const ids = await contractsWith(t, field.id, ['5', '1,200']);
        const outsider = { plane: t.as({ actor: { ...t.call.actor, roleCode: 'admin' } }) };
        const refused = { code: 'FIELD_NOT_EDITABLE', details: { fields: [field.id] } };
        for (const more of [
          { dryRun: true },
          { settings: { max: 1_000 } },
          { settings: { max: 1_000 }, onInvalid: 'clear' },
        ])
          expect(await failureOf(toType(outsider, field.id, 'number', more)), JSON.stringify(more)).to.deep.equal(
            refused,
          );
        expect(await failureOf(toType(outsider, field.id, 'date'))).to.deep.equal(refused);
        expect(await valuesOf(t, ids, field.id)).to.deep.equal(['5', '1,200']);
        const done = await toType(outsider, field.id, 'number');
        expect([done.field.type, done.result]).to.deep.equal(['number', undefined]);
        expect(await valuesOf(t, ids, field.id)).to.deep.equal([5, 1_200]);
        expect((await toType(outsider, field.id, 'number')).result, 'also if it has the type already').to.equal(
          undefined,
        );
        const copy = await fieldCommand(outsider, 'DuplicateField', { fieldId: field.id, includeValues: true });
        expect([copy.result, copy.field.visibleRoles, await valuesOf(t, ids, copy.field.id)]).to.deep.equal([
          undefined,
          ['manager'],
          [5, 1_200],
        ]);
      });

      it('removes no options from values that the caller does not see', async () => {
        const t = makePlane();
        const field = await aField(t, {
          type: 'select',
          options: [{ label: 'A' }, { label: 'B' }],
          visibleRoles: ['manager'],
        });
        const [a = '', b = ''] = field.options.map(({ id }) => id);
        const [mine = ''] = await contractsWith(t, field.id, [a]);
        const outsider = { plane: t.as({ actor: { ...t.call.actor, roleCode: 'admin' } }) };
        const without = (caller: Pick<TestPlane, 'plane'>, onRemoved: 'archive' | 'clear') =>
          fieldCommand(caller, 'UpdateFieldOptions', {
            fieldId: field.id,
            options: [{ id: b, label: 'B' }],
            onRemoved,
          });
        expect(await failureOf(without(outsider, 'clear'))).to.deep.equal({
          code: 'FIELD_NOT_EDITABLE',
          details: { fields: [field.id] },
        });
        expect((await without(outsider, 'archive')).result).to.equal(undefined);
        expect(await valueOf(t, mine, field.id)).to.equal(a);
      });

      it('only counts in a dry run', async () => {
        const t = makePlane();
        const field = await aField(t);
        const ids = await contractsWith(t, field.id, ['5', 'word', '2026-03-01']);
        const { result, field: answered } = await toType(t, field.id, 'number', { dryRun: true });
        expect([
          result?.dryRun,
          result?.total,
          result?.converted,
          result?.cleared,
          result?.samples.length,
        ]).to.deep.equal([true, 3, 1, 2, 2]);
        expect(answered).to.deep.equal(field);
        expect(await valuesOf(t, ids, field.id)).to.deep.equal(['5', 'word', '2026-03-01']);
      });

      it('clears lost values on request, and restores them with the type', async () => {
        const t = makePlane();
        const field = await aField(t);
        const ids = await contractsWith(t, field.id, ['5,000', 'word', null]);
        expect((await toType(t, field.id, 'number', { onInvalid: 'clear' })).result).to.include({
          total: 2,
          converted: 1,
          cleared: 1,
        });
        expect(await valuesOf(t, ids, field.id)).to.deep.equal([5000, undefined, undefined]);
        expect((await toType(t, field.id, 'text')).result).to.include({ total: 2, converted: 2, cleared: 0 });
        expect(await valuesOf(t, ids, field.id)).to.deep.equal(['5,000', 'word', undefined]);
      });

      it('keeps and converts a value that was changed since', async () => {
        const t = makePlane();
        const field = await aField(t);
        const [kept, changed, filled, emptied] = await contractsWith(t, field.id, ['1,000', '2,000', 'word', '3,000']);
        await toType(t, field.id, 'number', { onInvalid: 'clear' });
        const set = (contractId: string | undefined, value: unknown) =>
          t.plane.updateContract({ contractId: contractId ?? '', changes: { dynamicFields: { [field.id]: value } } });
        await set(changed, 2001);
        await set(filled, 9);
        await set(emptied, null);
        await toType(t, field.id, 'text');
        expect(await valuesOf(t, [kept ?? '', changed ?? '', filled ?? '', emptied ?? ''], field.id)).to.deep.equal([
          '1,000',
          '2001',
          '9',
          undefined,
        ]);
      });

      it('deletes the previous values after thirty days', async () => {
        const t = makePlane();
        const field = await aField(t);
        const ids = await contractsWith(t, field.id, ['1,000', 'word']);
        await toType(t, field.id, 'number', { onInvalid: 'clear' });
        t.clock.advance(30 * 86_400_000);
        await toType(t, field.id, 'text');
        expect(await valuesOf(t, ids, field.id)).to.deep.equal(['1000', undefined]);
      });

      it('restores settings and options after several changes of type', async () => {
        const t = makePlane();
        const field = await aField(t, { type: 'select', options: [{ label: '12.5', color: 'red' }, { label: 'Yes' }] });
        const [number = '', yes = ''] = field.options.map(({ id }) => id);
        const ids = await contractsWith(t, field.id, [number, yes]);
        for (const type of ['multi_select', 'text', 'number', 'boolean', 'datetime', 'long_text'] as const)
          await toType(t, field.id, type, { onInvalid: 'clear' });
        const back = await toType(t, field.id, 'select');
        expect(back.field.options).to.deep.equal(field.options);
        expect(await valuesOf(t, ids, field.id)).to.deep.equal([number, yes]);
      });

      it('creates at most a hundred options from labels', async () => {
        const t = makePlane();
        const field = await aField(t);
        const labels = Array.from({ length: 100 }, (_, i) => `label ${i}`);
        const ids = await contractsWith(t, field.id, [...labels, 'LABEL 0']);
        const done = await toType(t, field.id, 'select', { options: [{ label: 'Never used', color: 'red' }] });
        expect(done.field.options.map(({ label }) => label)).to.deep.equal(['Never used', ...labels]);
        expect(await valueOf(t, ids.at(-1) ?? '', field.id)).to.equal(done.field.options[1]?.id);
        await toType(t, field.id, 'text');
        expect(await valueOf(t, ids.at(-1) ?? '', field.id)).to.equal('LABEL 0');
        const other = await aField(t);
        await contractsWith(t, other.id, [...labels, 'one more']);
        expect(await failureOf(toType(t, other.id, 'select'))).to.have.property('code', 'FIELD_CONVERSION_LOSSY');
        expect(
          (await toType(t, other.id, 'select', { dryRun: true, options: [{ label: 'one more' }] })).result,
        ).to.include({ converted: 101, cleared: 0 });
      });

      it('always converts booleans to two options', async () => {
        const t = makePlane();
        const field = await aField(t, { type: 'boolean' });
        const ids = await contractsWith(t, field.id, [true]);
        const { field: choice } = await toType(t, field.id, 'select');
        expect(choice.options.map(({ label }) => label)).to.deep.equal(['true', 'false']);
        expect(await valuesOf(t, ids, field.id)).to.deep.equal([choice.options[0]?.id]);
      });

      it("matches members by name, and dates in the tenant's format", async () => {
        const t = makePlane();
        const ming = { id: newId(), name: 'Ming Li', email: 'ming@example.test', active: true };
        const [person, day] = [await aField(t), await aField(t)];
        const made = await t.plane.createContract(
          aContract({ dynamicFields: { [person.id]: 'Ming Li', [day.id]: '31.12.2026' } }),
        );
        await fieldCommand(t, 'UpdateFieldType', { fieldId: person.id, type: 'user' }, { members: [ming] });
        await fieldCommand(t, 'UpdateFieldType', { fieldId: day.id, type: 'date' }, { dateFormat: 'DD.MM.YYYY' });
        expect((await t.plane.getContract({ contractId: made.id })).dynamicFields).to.deep.equal({
          [person.id]: ming.id,
          [day.id]: '2026-12-31',
        });
      });

      it('keeps the number of an amount in another currency, and treats removed decimals as a loss', async () => {
        const t = makePlane();
        const field = await aField(t, { type: 'currency' });
        expect(field.settings.currencyCode).to.equal('CNY');
        const ids = await contractsWith(t, field.id, [5.25, 6]);
        expect(
          await failureOf(toType(t, field.id, 'currency', { settings: { currencyCode: 'JPY' } })),
        ).to.have.nested.property('details.lossy', 1);
        expect(
          (await toType(t, field.id, 'currency', { settings: { currencyCode: 'JPY' }, onInvalid: 'clear' })).result,
        ).to.include({ cleared: 1, unchanged: 1 });
        expect((await toType(t, field.id, 'currency', { settings: { currencyCode: 'KWD' } })).result).to.include({
          converted: 1,
          unchanged: 1,
        });
        expect(await valuesOf(t, ids, field.id)).to.deep.equal([5.25, 6]);
      });

      it('restores the values when it is reverted, whatever the types in between', async () => {
        const t = makePlane();
        const texts = fc.array(
          fc.oneof(
            fc.constantFrom(
              '1,200.50',
              '007',
              ' yes',
              'NO',
              '2026-03-01',
              '1/2/2026',
              'a, b; c',
              'X@Example.test',
              'https://e.test',
              '是',
            ),
            fc.string({ unit: 'grapheme', maxLength: 20 }),
          ),
          { minLength: 1, maxLength: 4 },
        );
        const ways = fc.array(fc.constantFrom(...FIELD_TYPES.filter((type) => type !== 'text')), {
          minLength: 1,
          maxLength: 3,
        });
        await fc.assert(
          fc.asyncProperty(texts, ways, async (raw, types) => {
            const values = raw
              .map((text) => text.trim().normalize('NFC'))
              .filter((text) => text !== '' && !/[\p{Cc}\p{Cs}]/u.test(text));
            const field = await aField(t);
            const ids = await contractsWith(t, field.id, values);
            for (const type of types) await toType(t, field.id, type, { onInvalid: 'clear' });
            await toType(t, field.id, 'text');
            expect(await valuesOf(t, ids, field.id)).to.deep.equal(values);
            await fieldCommand(t, 'ArchiveField', { fieldId: field.id });
          }),
          { numRuns: name === 'sqlite' ? 25 : 8 },
        );
      });

      it('either converts or refuses a value that is written concurrently', async () => {
        const t = makePlane();
        const field = await aField(t);
        const ids = await contractsWith(t, field.id, ['1', '2', '3']);
        const writes = Array.from(
          { length: 24 },
          (_, i) => () =>
            t.plane.updateContract({
              contractId: ids[i % 3] ?? '',
              changes: { dynamicFields: { [field.id]: String(i) } },
            }),
        );
        const entries = Array.from(
          { length: 12 },
          (_, i) => () => t.plane.createContract(aContract({ dynamicFields: { [field.id]: String(i) } })),
        );
        const work = [
          ...writes.slice(0, 12),
          ...entries.slice(0, 6),
          () => toType(t, field.id, 'number'),
          ...writes.slice(12),
          ...entries.slice(6),
        ];
        const outcomes = await Promise.allSettled(work.map((run) => run()));
        for (const outcome of outcomes)
          if (outcome.status === 'rejected') expect(outcome.reason).to.have.property('code', 'INVALID_INPUT');
        expect(outcomes[18]?.status).to.equal('fulfilled');
        const { items } = await listedContracts(t.plane, { pageSize: 200 });
        expect(items.map(({ dynamicFields }) => typeof dynamicFields[field.id])).to.deep.equal(
          items.map(() => 'number'),
        );
      });

      if (name !== 'remote')
        it('converts two thousand contracts in one transaction, and lets other requests be served meanwhile', async () => {
          const t = makePlane();
          const field = await aField(t);
          await contractsWith(t, field.id, ['0']);
          await multiply(t, 2_000);
          let [isRunning, turns] = [true, 0];
          const running = toType(t, field.id, 'number').finally(() => (isRunning = false));
          while (isRunning) {
            await t.plane.listFields({});
            await nextTurn();
            turns += 1;
          }
          expect((await running).result).to.include({ total: 2_001, converted: 2_001 });
          expect(turns).to.be.greaterThan(5);
          expect((await toType(t, field.id, 'text')).result).to.include({ total: 2_001, converted: 2_001 });
        });

      it('clears a value if its contract would become too large, and nothing else', async () => {
        const t = makePlane();
        const options = Array.from({ length: 120 }, (_, i) => ({ label: `${'字'.repeat(90)} ${i}` }));
        const choice = await aField(t, { type: 'multi_select', options });
        const values: Record<string, unknown> = { [choice.id]: choice.options.slice(0, 60).map(({ id }) => id) };
        for (let i = 0; i < 25; i++) values[(await aField(t, { type: 'long_text' })).id] = 'x'.repeat(10_000);
        await t.plane.createContract(aContract({ dynamicFields: values }));
        expect(await failureOf(toType(t, choice.id, 'long_text'))).to.have.property('code', 'FIELD_CONVERSION_LOSSY');
      });
    },
    { only: PLANES },
  );
});

/** Copies the tenant's one contract, without a thousand requests. */
async function multiply({ database, call }: TestPlane, times: number): Promise<void> {
  await database.write(call, async (tx) => {
    const row = await tx.get('SELECT * FROM contracts WHERE tenant_id = ?', [call.tenantId]);
    if (!row) throw new Error('there is no contract');
    const columns = Object.keys(row);
    const one = `(${columns.map(() => '?').join(', ')})`;
    for (let n = 0; n < times; n += 100) {
      const copies = Array.from({ length: 100 }, (_, i): typeof row => ({
        ...row,
        id: newId(),
        contract_key: `k${n + i}`,
        archive_key: `k${n + i}`,
        dynamic_fields: String(row['dynamic_fields']).replace('"0"', `"${n + i + 1}"`),
      }));
      await tx.run(
        `INSERT INTO contracts (${columns.join(', ')}) VALUES ${copies.map(() => one).join(', ')}`,
        copies.flatMap((copy) => columns.map((column) => copy[column] ?? null)),
      );
    }
  });
}
