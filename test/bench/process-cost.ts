import { readFileSync } from "node:fs";

/** Clock ticks a second in /proc, which Linux fixes at 100 for programs (`man 5 proc`, USER_HZ). */
const TICKS_PER_SECOND = 100;

/**
 * The processor time a process has used so far, of all its threads, its own and the kernel's for
 * it, in microseconds; undefined where there is no /proc.
 */
export function cpuMicros(pid: number): number | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The second field is the name in brackets, which may hold spaces; utime and stime are 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1e6) / TICKS_PER_SECOND;
}

/** The memory of a process that is in RAM, in MiB; undefined where there is no /proc. */
export function residentMiB(pid: number): number | undefined {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`) ?? "")?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) / 1_024;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
