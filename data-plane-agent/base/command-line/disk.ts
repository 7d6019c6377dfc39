import { accessSync, constants, existsSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { randomToken } from '../secrets.js';
import { check, reasonOf, type Check } from './check.js';

/** The data folder is writable. A missing folder is created at the first start, if its parent folder is writable. */
export function dataDirCheck({ dataDir }: { readonly dataDir: string }): Check {
  const folder = resolve(dataDir);
  const fix = `let the user that runs the program write to ${folder}, or set DATA_DIR to another folder`;
  try {
    if (existsSync(folder)) {
      writeAndRemove(folder);
      return check.ok('data_dir', folder);
    }
    const obstacle = obstacleTo(folder);
    if (obstacle !== undefined) return check.fail('data_dir', obstacle, fix);
    return check.ok('data_dir', `${folder} will be created at the first start`);
  } catch (error) {
    return check.fail('data_dir', `${folder} cannot be written to (${reasonOf(error)})`, fix);
  }
}

/** Why a missing folder cannot be created; undefined when it can. Creates nothing. */
export function obstacleTo(folder: string): string | undefined {
  const parent = nearestAbove(folder);
  try {
    if (!statSync(parent).isDirectory()) return `${folder} cannot be created: ${parent} is not a folder`;
    accessSync(parent, constants.W_OK);
    return undefined;
  } catch (error) {
    return `${folder} cannot be created in ${parent} (${reasonOf(error)})`;
  }
}

type StatFs = (path: string) => { readonly bavail: number; readonly bsize: number };

/** Free space on the disk of a file or folder that exists, for a user without privileges. */
export function freeBytesAt(path: string, statfs: StatFs = statfsSync): number {
  const { bavail, bsize } = statfs(path);
  return bavail * bsize;
}

const GIB = 2 ** 30;
const MIB = 2 ** 20;

const freeText = (bytes: number): string =>
  bytes < GIB ? `${Math.floor(bytes / MIB)} MiB` : `${(bytes / GIB).toFixed(1)} GiB`;

/** Free space on the disk of the data folder. `statfs` is replaced by tests. */
export function diskCheck(
  { dataDir }: { readonly dataDir: string },
  { statfs = statfsSync }: { readonly statfs?: StatFs } = {},
): Check {
  const folder = nearestAbove(resolve(dataDir));
  try {
    const freeBytes = freeBytesAt(folder, statfs);
    const detail = `${freeText(freeBytes)} free at ${folder}`;
    const fix = `free space on the disk of ${folder}, or move DATA_DIR to a larger disk`;
    if (freeBytes < GIB / 10) return check.fail('disk', detail, fix);
    return freeBytes < GIB ? check.warn('disk', detail, fix) : check.ok('disk', detail);
  } catch (error) {
    return check.fail(
      'disk',
      `cannot read the free space of ${folder} (${reasonOf(error)})`,
      'check that the disk is mounted',
    );
  }
}

/** Permission bits do not apply to root and do not show a read-only disk: only writing a file proves it. */
function writeAndRemove(folder: string): void {
  const probe = join(folder, `.doctor-${randomToken(6)}`);
  writeFileSync(probe, '', { flag: 'wx', mode: 0o600 });
  rmSync(probe);
}

function nearestAbove(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestAbove(dirname(path));
}
