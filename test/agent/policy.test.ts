import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXPORTING, READ_ONLY_WRITES, readPolicy, type Policy } from '../../data-plane-agent/agent/policy.js';
import { OPERATION_NAMES, OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';

describe('a policy file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'duebook-policy-'));
  const path = join(folder, 'policy.json');
  after(() => rmSync(folder, { recursive: true, force: true }));

  const policy = (content: object | string): Policy => {
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    const read = readPolicy({ path, required: true });
    if (!read.ok) throw new Error(read.faults.map(({ problem }) => problem).join('\n'));
    return read.policy;
  };
  const faultsOf = (content: object | string): string => {
    try {
      policy(content);
      return '';
    } catch (error) {
      return error instanceof Error ? error.message : '';
    }
  };

  it('that is missing refuses nothing, unless it was named', () => {
    const missing = join(folder, 'none.json');
    const read = readPolicy({ path: missing, required: false });
    expect(read.ok && OPERATION_NAMES.filter((name) => read.policy.refuses(name))).to.deep.equal([]);
    expect(readPolicy({ path: missing, required: true })).to.deep.equal({
      ok: false,
      faults: [{ name: 'POLICY_FILE', problem: `names a file that does not exist: ${missing}` }],
    });
  });

  it('readOnly refuses every write but those that change no contract data', () => {
    const { refuses } = policy({ readOnly: true });
    const allowed = OPERATION_NAMES.filter((name) => OPERATIONS[name].effect === 'write' && !refuses(name));
    expect(allowed.toSorted()).to.deep.equal([...READ_ONLY_WRITES].toSorted());
    expect(READ_ONLY_WRITES.filter((name) => OPERATIONS[name].effect !== 'write')).to.deep.equal([]);
    expect(OPERATION_NAMES.filter((name) => OPERATIONS[name].effect === 'read' && refuses(name))).to.deep.equal([]);
  });

  it('export: false refuses every operation that hands out a whole book', () => {
    const { refuses } = policy({ export: false });
    expect(OPERATION_NAMES.filter(refuses).toSorted()).to.deep.equal([...EXPORTING].toSorted());
    // An operation with "export" in its name is either in the list, or records that an export was made.
    const named = OPERATION_NAMES.filter((name) => /export/i.test(name) && !name.startsWith('record'));
    expect(named.filter((name) => !EXPORTING.includes(name))).to.deep.equal([]);
  });

  it('deny refuses operations by name, also those that the others allow', () => {
    const { refuses } = policy({ readOnly: true, deny: ['downloadFile', 'listTrash'] });
    expect([refuses('downloadFile'), refuses('listTrash'), refuses('listContracts')]).to.deep.equal([
      true,
      true,
      false,
    ]);
  });

  it('has named faults', () => {
    expect(faultsOf('{')).to.contain('is not valid JSON');
    expect(faultsOf('[]')).to.contain('object');
    expect(faultsOf({ readOnyl: true })).to.contain('readOnyl');
    expect(faultsOf({ readOnly: 'yes' })).to.contain('readOnly');
    expect(faultsOf({ deny: ['listContracts', 'dropTables', 'deleteContrats'] })).to.match(
      /"dropTables", which is no operation[\s\S]*"deleteContrats"/,
    );
  });
});
