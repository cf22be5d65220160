import { readFileSync } from "node:fs";

/** Clock ticks per second in /proc. Linux fixes USER_HZ at 100 (`man 5 proc`). */
const TICKS_PER_SECOND = 100;

/** Returns the user and system time of a process with all its threads, in microseconds. `undefined` without /proc. */
export function cpuMicros(pid: number): number | undefined {
  return timesOf(pid)?.own;
}

/** Returns the processor time of a process and its children, including exited ones, like `cpuMicros`. */
export function familyCpuMicros(pid: number): number | undefined {
  const children = read(`/proc/${pid}/task/${pid}/children`);
  const ended = timesOf(pid)?.endedChildren;
  if (children === undefined || ended === undefined) return undefined;
  const pids = [pid, ...children.split(" ").filter(Boolean).map(Number)];
  return pids.reduce((sum, it) => sum + (cpuMicros(it) ?? 0), ended);
}

/** Returns the resident memory of a process in MiB. `undefined` without /proc. */
export function residentMiB(pid: number): number | undefined {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`) ?? "")?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) / 1_024;
}

function timesOf(pid: number): { own: number; endedChildren: number } | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The second field is the name in parentheses, which may contain spaces. Fields 14 and 15 are
  // utime and stime, fields 16 and 17 those of exited children.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [utime, stime, cutime, cstime] = fields.slice(11, 15).map((ticks) => (Number(ticks) * 1e6) / TICKS_PER_SECOND);
  return { own: utime! + stime!, endedChildren: cutime! + cstime! };
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
