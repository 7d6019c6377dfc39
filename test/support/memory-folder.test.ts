import { expect } from 'chai';
import memory from './memory-folder.cjs';

const GIB = 2 ** 30;
const TMPFS = 'tmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0\n';

const folderOf = ({
  mounts = () => `/dev/vda / ext4 rw 0 0\n${TMPFS}`,
  free = 4 * GIB,
  available = 8 * GIB,
}: {
  mounts?: () => string;
  free?: number;
  available?: number;
} = {}) => memory.memoryFolder({ mounts, freeBytes: () => free, memoryBytes: () => available });

describe('the folder in memory for the temporary files of tests', () => {
  it('is /dev/shm, where it has room', () => {
    expect(folderOf()).to.equal('/dev/shm');
  });

  it('is not used where programs may not be started from it, or nothing may be written', () => {
    expect(folderOf({ mounts: () => 'shm /dev/shm tmpfs rw,nosuid,nodev,noexec 0 0\n' })).to.equal(undefined);
    expect(folderOf({ mounts: () => 'shm /dev/shm tmpfs ro 0 0\n' })).to.equal(undefined);
    expect(folderOf({ mounts: () => `${TMPFS}shm /dev/shm tmpfs rw,noexec 0 0\n` })).to.equal(undefined);
  });

  it('is not used where it is no file system of its own, or does not exist', () => {
    expect(folderOf({ mounts: () => '/dev/vda / ext4 rw 0 0\n' })).to.equal(undefined);
    expect(folderOf({ mounts: missing })).to.equal(undefined);
  });

  it('is not used where it, or the memory, could become full', () => {
    expect(folderOf({ free: 4 * GIB - 1 })).to.equal(undefined);
    expect(folderOf({ available: 8 * GIB - 1 })).to.equal(undefined);
  });
});

function missing(): never {
  throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
}
