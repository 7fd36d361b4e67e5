// Limits the processor time of single processes, as if each had a slower processor of its own. Linux, as root.
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { directory } from './tools.mjs';

const PERIOD_US = 10_000;

/** The files of the two versions of control groups. */
const VERSIONS = [
  {
    root: '/sys/fs/cgroup/cpu',
    limit: (quotaUs) => ({ 'cpu.cfs_period_us': `${PERIOD_US}`, 'cpu.cfs_quota_us': `${quotaUs}` }),
  },
  { root: '/sys/fs/cgroup', limit: (quotaUs) => ({ 'cpu.max': `${quotaUs} ${PERIOD_US}` }) },
];

/** Limits each of the processes to a share of a processor. Returns undefined if that is not possible here. */
export function limitProcesses(pids, share) {
  const version = VERSIONS.find(({ root }) => existsSync(join(root, 'cgroup.procs')));
  if (!version) return undefined;
  const groups = pids.map((pid) => join(version.root, `${basename(directory)}-${pid}`));
  try {
    for (const [index, group] of groups.entries()) {
      mkdirSync(group);
      const files = { ...version.limit(Math.round(share * PERIOD_US)), 'cgroup.procs': `${pids[index]}` };
      for (const [name, text] of Object.entries(files)) writeFileSync(join(group, name), text);
    }
  } catch {
    return undefined;
  }
  return {
    /** After the processes have ended. */
    remove() {
      for (const group of groups) rmdirSync(group);
    },
  };
}
