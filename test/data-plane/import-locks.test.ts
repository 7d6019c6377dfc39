import { expect } from 'chai';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { bind } from '../../data-plane-agent/plane/contract/data-plane.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import { aField } from '../support/fields.js';
import { faultsOf, HARBOUR, MING, ofRows } from '../support/import-samples.js';
import { forEachReplicas } from '../support/replicas.js';
import { aContract, aLine } from '../support/samples.js';

interface Taken {
  readonly lock: string;
  /** Whether it is released when a savepoint is rolled back. */
  readonly inSavepoint: boolean;
}

/** A database that notes the locks on subject companies, stages and fields that its writes take. */
function noting(database: Database, taken: Taken[]): Database {
  const lockOf = (sql: string, values: readonly unknown[]): string | undefined => {
    if (sql.includes('dynamic_field_sets') && sql.endsWith('FOR SHARE')) return 'fields';
    if (!sql.includes('pg_advisory_xact_lock_shared')) return undefined;
    return String(values[0]).startsWith('stages of ') ? 'stages' : 'subject company';
  };
  const watched = (tx: Transaction): Transaction => {
    let depth = 0;
    return new Proxy(tx, {
      get(target, name) {
        if (name === 'savepoint') {
          return async (...given: Parameters<Transaction['savepoint']>): Promise<unknown> => {
            depth += 1;
            try {
              return await target.savepoint(...given);
            } finally {
              depth -= 1;
            }
          };
        }
        if (name === 'hold') {
          return (sql: string, values: Parameters<Transaction['hold']>[1] = []): Promise<void> => {
            const lock = lockOf(sql, values);
            if (lock !== undefined) taken.push({ lock, inSavepoint: depth > 0 });
            return target.hold(sql, values);
          };
        }
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  };
  const write: Database['write'] = (scope, work, options) => database.write(scope, (tx) => work(watched(tx)), options);
  return Object.assign(Object.create(database) as Database, { dialect: database.dialect, write });
}

describe('the locks of an import', () => {
  forEachReplicas((name, replicas) => {
    it('are kept when contracts are refused, whose savepoint is rolled back', async () => {
      const [test] = replicas().both();
      const { id } = await aField(test);
      const rows = Array.from({ length: 6 }, () =>
        aContract({
          subjectId: HARBOUR.id,
          ownerId: MING.id,
          dynamicFields: { [id]: 'red' },
          payments: [aLine()],
        }),
      );
      const [first] = rows;
      const repeated = {
        ...aContract({ subjectId: HARBOUR.id, ownerId: MING.id }),
        contractNo: first?.contractNo ?? '',
      };
      const taken: Taken[] = [];
      const importing = bind(replicas().planeOn(noting(test.database, taken)), test.call, { operations: OPERATIONS });
      const report = await importing.importContracts(ofRows([...rows, repeated]));
      expect(report.created).to.equal(6);
      expect(faultsOf(report)).to.deep.equal(['7 contractNo DUPLICATE_CONTRACT_NO']);
      const locks = new Set(taken.filter(({ inSavepoint }) => !inSavepoint).map(({ lock }) => lock));
      expect([...locks]).to.have.members(name === 'postgres' ? ['fields', 'stages', 'subject company'] : []);
      expect(taken.filter(({ inSavepoint }) => inSavepoint)).to.deep.equal([]);
    });
  });
});
