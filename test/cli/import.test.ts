import { expect } from 'chai';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ImportReport } from '../../data-plane-agent/plane/contract/records/imports.js';
import { installations, type Installation } from '../support/cli.js';
import { withProduct } from '../support/product.js';
import { aWorkbook } from '../support/workbook.js';

const PASSWORD = 'Correct-Horse-42';
const HEADER = [
  '档案编号',
  '合同编号',
  '项目名称',
  '签约主体',
  '甲方',
  '乙方',
  '设备名称',
  '设备型号',
  '数量',
  '单价',
  '付款方式',
  '开始日期',
  '结束日期',
  '负责人邮箱',
  '流程阶段',
  'line.period',
  'line.dueDate',
  'line.amount',
  'line.receivedAmount',
];

const cells = (no: string, changes: Readonly<Record<string, string>> = {}): string[] => {
  const row: Readonly<Record<string, string>> = {
    档案编号: `A-${no}`,
    合同编号: no,
    项目名称: '港口项目',
    签约主体: 'Acme',
    甲方: '甲方公司',
    乙方: '乙方公司',
    设备名称: '起重机',
    设备型号: 'QUY-80',
    数量: '2',
    单价: '50',
    付款方式: '电汇',
    开始日期: '2026年1月1日',
    结束日期: '2026/12/31',
    负责人邮箱: 'ann@acme.example',
    流程阶段: 'active',
    'line.period': '第1期',
    'line.dueDate': '2026-02-01',
    'line.amount': '100',
    'line.receivedAmount': '40',
    ...changes,
  };
  return HEADER.map((name) => row[name] ?? '');
};
const csv = (...rows: readonly (readonly string[])[]): string =>
  [HEADER, ...rows].map((row) => row.join(',')).join('\r\n');

describe('duebook import', () => {
  const install = installations();

  const acme = async (): Promise<
    Installation & {
      file(name: string, content: string | Uint8Array): string;
      numbers(): Promise<string[]>;
      batches(): Promise<string[]>;
    }
  > => {
    const installation = await install();
    await installation.inProcess(
      [
        'bootstrap',
        '--tenant-slug',
        'acme',
        '--tenant-name',
        'Acme',
        '--email',
        'ann@acme.example',
        '--name',
        'Ann Lee',
      ],
      { input: PASSWORD },
    );
    const column = (sql: string): Promise<string[]> =>
      withProduct({ DATA_DIR: installation.dataDir }, async ({ foundation, services }) => {
        const tenantId = (await services.tenants.bySlug('acme'))?.id ?? '';
        const rows = (await foundation.tenant?.read({ tenantId }, (tx) => tx.all(sql, [tenantId]))) ?? [];
        return rows.map((row) => String(row['found']));
      });
    return {
      ...installation,
      file(name, content) {
        const path = join(installation.folder, name);
        writeFileSync(path, content);
        return path;
      },
      numbers: () => column('SELECT contract_no AS found FROM contracts WHERE tenant_id = ? ORDER BY contract_no'),
      batches: () => column('SELECT id AS found FROM import_batches WHERE tenant_id = ?'),
    };
  };

  it('imports a CSV in UTF-8, UTF-16 or GB18030, including active contracts with receipts', async () => {
    const { inProcess, file, numbers } = await acme();
    const files = [
      file('one.csv', csv(cells('U8'))),
      file('two.csv', Buffer.from(`\uFEFF${csv(cells('U16'))}`, 'utf16le')),
      file(
        'three.CSV',
        gb18030(
          csv(
            cells('GB', { 'line.amount': '60' }),
            cells('GB', { 'line.period': '第2期', 'line.amount': '40', 'line.receivedAmount': '0' }),
          ),
        ),
      ),
      file('four.csv', Buffer.from(`\uFEFF${csv(cells('U16BE'))}`, 'utf16le').swap16()),
    ];
    for (const path of files) {
      const { code, stdout, stderr } = await inProcess(['import', path, '--tenant', 'acme']);
      expect([code, stderr], stdout).to.deep.equal([0, '']);
      expect(stdout).to.match(
        /^1 contract was entered, from [12] of [12] rows; 0 failed, 0 were blank\.\nRead as: cells separated by commas, (UTF-8|UTF-16LE|GB18030|UTF-16BE), numbers like 1234\.56\.\n$/,
      );
    }
    const row = cells('EU', { 单价: '500,25', 'line.amount': '1.000,5', 'line.dueDate': '31.12.2026' });
    const european = file('five.csv', [HEADER, row].map((line) => line.join(';')).join('\n'));
    expect((await inProcess(['import', european, '--tenant', 'acme'])).stdout).to.match(
      /\nRead as: cells separated by semicolons, UTF-8, numbers like 1\.234,56, dates like 31\/12\/2026\.\n$/,
    );
    expect(await numbers()).to.deep.equal(['EU', 'GB', 'U16', 'U16BE', 'U8']);
  });

  it("accepts the organisation's roles", async () => {
    const { inProcess, file, numbers } = await acme();
    const table = [
      [...HEADER, 'workflowAllowedRoles'],
      [...cells('R1'), '["sales"]'],
      [...cells('R2'), '["sales","pirate"]'],
    ];
    const { code, stdout } = await inProcess([
      'import',
      file('roles.xlsx', await aWorkbook(table)),
      '--tenant',
      'acme',
    ]);
    expect(code).to.equal(1);
    expect(stdout).to.match(
      /3 +REFERENCE_INVALID +workflowAllowedRoles\[1\] is not the code of a role +\["sales","pirate"\]\n/,
    );
    expect(await numbers()).to.deep.equal(['R1']);
  });

  it('reports the errors of bad rows, imports the others, and exits with 1', async () => {
    const { inProcess, file, numbers, batches } = await acme();
    const path = file(
      'book.xlsx',
      await aWorkbook([
        [...HEADER, '颜色'],
        [...cells('X1'), 'red'],
        [...cells('X2', { 数量: 'two\u009b31m' }), ''],
        [...cells('X1', { 'line.period': '', 'line.dueDate': '', 'line.amount': '', 'line.receivedAmount': '' }), ''],
      ]),
    );
    const { code, stdout, stderr } = await inProcess(['import', path, '--tenant', 'acme', '--sheet', 'Sheet1']);
    expect(code).to.equal(1);
    expect(stdout.split('\n').slice(0, 3)).to.deep.equal([
      '1 contract was entered, from 1 of 3 rows; 2 failed, 0 were blank.',
      'Read as: a workbook, no decimal mark.',
      'Unknown columns that were ignored: 颜色',
    ]);
    expect(stdout)
      .to.match(
        /3 +INVALID_INPUT +quantity must be .* two.?31m\n4 +DUPLICATE_CONTRACT_NO +contractNo is already used in row 2 +X1\n/,
      )
      .and.not.contain('\u009b');
    expect(stderr).to.equal('duebook: 2 rows not entered\n');
    expect(await numbers()).to.deep.equal(['X1']);
    const [batch] = await batches();
    expect(stdout).to.contain(`GET /api/v1/contracts/import/batches/${batch}/errors.csv; --errors FILE writes them.\n`);
  });

  it('writes the rejected rows to a new file, and only if there are any', async () => {
    const { inProcess, file, folder, numbers } = await acme();
    const path = join(folder, 'rejected.csv');
    const importing = (name: string, content: string) =>
      inProcess(['import', file(name, content), '--tenant', 'acme', '--errors', path]);
    expect((await importing('good.csv', csv(cells('E1')))).code).to.equal(0);
    expect(existsSync(path)).to.equal(false);
    const { code, stdout } = await importing('bad.csv', csv(cells('E2'), cells('E3', { 数量: 'two' })));
    expect(code).to.equal(1);
    expect(stdout).to.contain(`\nThe rejected rows with their errors: ${path}\n`);
    const [header, row, ...more] = readFileSync(path, 'utf8').split('\r\n');
    expect([header, ...more]).to.deep.equal([[...HEADER, 'error'].join(','), '']);
    expect(row).to.match(/^A-E3,E3,.*,"quantity must be a number alone, without a currency or unit"$/);
    const again = await importing('more.csv', csv(cells('E4')));
    expect([again.code, again.stderr]).to.deep.equal([2, `duebook: --errors ${path} already exists\n`]);
    const dry = await inProcess(['import', path, '--tenant', 'acme', '--errors', `${path}2`, '--dry-run']);
    expect([dry.code, dry.stderr]).to.deep.equal([
      2,
      'duebook: --errors cannot be combined with --dry-run, which keeps no rejected rows\n',
    ]);
    expect(await numbers()).to.deep.equal(['E1', 'E2']);
  });

  it('names missing columns, and suggests a field for a misspelt one', async () => {
    const { inProcess, file } = await acme();
    const header = HEADER.map(
      (name) => ({ 数量: '数量们', 合同编号: '合同编好', 'line.amount': '金额' })[name] ?? name,
    );
    const path = file('words.csv', [header, cells('W1')].map((row) => row.join(',')).join('\n'));
    const { code, stdout } = await inProcess(['import', path, '--tenant', 'acme', '--dry-run']);
    expect(code).to.equal(1);
    expect(stdout)
      .to.contain(
        '\nUnknown columns that were ignored: 合同编好 (perhaps contractNo), 数量们, 金额 (perhaps totalAmount or line.amount)\n',
      )
      .and.contain(
        '\nRequired columns that the file lacks: contractNo (合同编号), quantity (数量), line.amount (应收金额)\n',
      );
  });

  it('imports nothing with --dry-run, and prints the report with --json', async () => {
    const { inProcess, file, numbers } = await acme();
    const path = file('book.csv', csv(cells('D1'), cells('D2', { 数量: '0' })));
    const dry = await inProcess(['import', path, '--tenant', 'acme', '--dry-run']);
    expect([dry.code, dry.stderr]).to.deep.equal([1, 'duebook: 1 row would not be entered\n']);
    expect(dry.stdout).to.match(/^1 contract would be entered, from 1 of 2 rows; 1 failed/);
    expect(await numbers()).to.deep.equal([]);
    const { code, stdout, stderr } = await inProcess(['import', path, '--tenant', 'acme', '--json']);
    const report = JSON.parse(stdout) as ImportReport;
    expect(code).to.equal(1);
    expect(report).to.include({ total: 2, created: 1, failed: 1, contracts: 1 });
    expect(report.batchId).to.be.a('string');
    expect(JSON.parse(stderr)).to.deep.equal({ error: { code: 'IMPORT_INCOMPLETE', message: '1 row not entered' } });
  });

  it('reports an error when there is nothing to read', async () => {
    const { inProcess, file, folder } = await acme();
    const ends = async (args: readonly string[]) => {
      const { code, stdout, stderr } = await inProcess(['import', ...args]);
      expect(stdout).to.equal('');
      return [code, stderr.trimEnd()];
    };
    expect(await ends([file('a.txt', 'x'), '--tenant', 'acme'])).to.deep.equal([
      2,
      'duebook: the file must be a .csv or an .xlsx file',
    ]);
    expect(await ends([file('a.csv', csv()), '--tenant', 'acme', '--sheet', 'x'])).to.deep.equal([
      2,
      'duebook: --sheet applies only to .xlsx workbooks',
    ]);
    expect(await ends(['nowhere.csv', '--tenant', 'acme'])).to.deep.equal([1, 'duebook: there is no file nowhere.csv']);
    mkdirSync(join(folder, 'folder.csv'));
    expect(await ends([join(folder, 'folder.csv'), '--tenant', 'acme'])).to.deep.equal([
      2,
      `duebook: ${join(folder, 'folder.csv')} is a folder`,
    ]);
    expect(await ends([file('b.csv', csv()), '--tenant', 'nobody'])).to.deep.equal([
      1,
      'duebook: there is no organisation nobody',
    ]);
    const broken = file('c.xlsx', 'no workbook');
    expect(await ends([broken, '--tenant', 'acme'])).to.deep.equal([
      1,
      `duebook: ${broken} cannot be imported: it is not an .xlsx workbook`,
    ]);
    const unknown = file('d.csv', 'x,y\n1,2');
    expect(await ends([unknown, '--tenant', 'acme'])).to.deep.equal([
      1,
      `duebook: ${unknown} cannot be imported: no column has a known header; the first row must be the header, without a title above it`,
    ]);
    const long = file('e.csv', `contractNo\n${'x\n'.repeat(5_001)}`);
    expect(await ends([long, '--tenant', 'acme'])).to.deep.equal([
      1,
      `duebook: ${long} has more than 5000 rows; split it`,
    ]);
    expect(await ends([file('f.csv', Uint8Array.from([0x61, 0xff, 0xff])), '--tenant', 'acme'])).to.deep.equal([
      1,
      'duebook: the file is neither UTF-8 nor GB18030',
    ]);
  });
});

/** Node can decode but not encode this encoding, so the table is built by decoding all pairs of bytes. */
function gb18030(text: string): Uint8Array {
  const decoder = new TextDecoder('gb18030');
  const pairs = new Map<string, readonly number[]>();
  for (let lead = 0x81; lead <= 0xfe; lead++)
    for (let trail = 0x40; trail <= 0xfe; trail++)
      if (trail !== 0x7f) pairs.set(decoder.decode(Uint8Array.from([lead, trail])), [lead, trail]);
  return Uint8Array.from(
    [...text].flatMap((character) => (character < '\u0080' ? [character.charCodeAt(0)] : (pairs.get(character) ?? []))),
  );
}
