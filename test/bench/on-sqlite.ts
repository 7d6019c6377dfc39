import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterWriteRows } from './after-write.js';
import { loadCases, type Subject } from './cases.js';
import { coldStart } from './cold-start.js';
import { CACHE, copyOf, todayOf, type Dataset, type Tenant } from './dataset.js';
import { drawnCases, drawnOf } from './drawn-cases.js';
import { exportRows } from './export.js';
import { sqliteFacts } from './facts.js';
import { importRows } from './import.js';
import { latencyRows } from './latency.js';
import { started, tokensOn, type Run } from './measured.js';
import type { Sides } from './measure.js';
import { memoryAfterLoad } from './memory.js';
import { overloadRows } from './overload.js';
import { rawTables, startRawProgram, withCounts } from './raw-program.js';
import { signIn, startService } from './service.js';
import { CONTRACTS, isWanted, SECONDS } from './settings.js';
import { workerRows } from './workers.js';

/** All cases on the data set, with the contracts in a file. */
export async function onSqlite(folder: string, dataset: Dataset, { rows, undo, measured }: Run): Promise<void> {
  const subject = await subjectOf(folder, dataset.bench);
  const ours = await copyOf(folder, 'ours');
  const rawFile = join(CACHE, `raw-${process.pid}.db`);
  undo.push(
    () => rm(ours, { recursive: true, force: true }),
    async () => {
      for (const end of ['', '-wal', '-shm']) await rm(`${rawFile}${end}`, { force: true });
    },
  );
  await cp(await rawTables(folder, subject), rawFile);
  if (isWanted('start')) rows.push(...(await coldStart(ours)));
  const lists = await withCounts(rawFile, (count) => drawnOf(subject, count));

  const service = await started(startService(ours), undo);
  const tokens = await tokensOn(service.origin);
  const raw = await started(
    startRawProgram(subject, { database: rawFile, platformFile: join(ours, 'platform.db'), tokens, lists: lists.all }),
    undo,
  );
  const sides: Sides = { ours: service, raw, token: tokens.owner, tokens, seconds: SECONDS };
  const small = { token: (await signIn(service.origin, 'bench-small')).token };
  rows.push(...(await latencyRows(sides, { smallToken: small.token, contracts: CONTRACTS, isWanted })));
  if (isWanted('export')) rows.push(...(await exportRows(sides, CONTRACTS)));
  await drawnCases(lists, sides, { rows, isWanted, subject });
  await measured(
    loadCases(subject).filter(({ key }) => isWanted(key)),
    sides,
  );
  if (isWanted('lists-busy')) await drawnCases(lists, sides, { rows, isWanted, subject, isBusy: true });
  if (isWanted('after-write'))
    rows.push(
      ...(await afterWriteRows(
        service,
        { ...small, token: tokens.owner, subject },
        { ...small, subject: await subjectOf(folder, dataset['bench-small']) },
      )),
    );
  if (isWanted('memory')) rows.push(...(await memoryAfterLoad(service, '')));
  if (isWanted('overload')) {
    rows.push(...(await overloadRows(service, { token: tokens.owner, seconds: 2 * SECONDS })));
  }
  if (isWanted('import')) rows.push(...(await importRows(sides, subject, ''))); // it changes the data of both sides
  if (isWanted('workers')) rows.push(...(await workerRows(folder, subject, 2 * SECONDS)));
}

export async function subjectOf(folder: string, tenant: Tenant): Promise<Subject> {
  const today = todayOf(tenant);
  return { tenant, today, facts: await sqliteFacts(join(folder, 'tenant.db'), tenant, today) };
}
