import { readFileSync } from 'node:fs';
import { lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The user for servers that refuse root; undefined for the current user. */
export type RunAs = { uid: number; gid: number } | undefined;

/** `nobody` when running as root, because it exists on every system. */
export function ordinaryUser(): RunAs {
  if (process.getuid?.() !== 0) return undefined;
  const entry = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([name]) => name === 'nobody');
  const [uid, gid] = [Number(entry?.[2]), Number(entry?.[3])];
  if (!Number.isInteger(uid) || !Number.isInteger(gid))
    throw new Error('as root a server is run as the user nobody, and there is none');
  return { uid, gid };
}

/** Changes the owner of a file or directory tree to that user. */
export async function giveAway(path: string, runAs: RunAs): Promise<void> {
  if (!runAs) return;
  const inside = (await lstat(path)).isDirectory() ? await readdir(path, { recursive: true }) : [];
  for (const owned of [path, ...inside.map((name) => join(path, name))]) await lchown(owned, runAs.uid, runAs.gid);
}
