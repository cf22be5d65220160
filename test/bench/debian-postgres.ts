import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { isInstalled } from "./run-command.ts";

/** Where Debian's packages put the programs of a PostgreSQL; the newest that is installed. */
export function debianPrograms(): string | undefined {
  return globSync("/usr/lib/postgresql/*/bin").toSorted(byVersion).at(-1);
}

/** The newest of them that has PostGIS. */
export function debianProgramsWithPostgis(): string | undefined {
  return globSync("/usr/lib/postgresql/*/bin")
    .toSorted(byVersion)
    .findLast((programs) => {
      const extensions = `/usr/share/postgresql/${versionOf(programs)}/extension`;
      return (
        existsSync(join(extensions, "postgis.control")) && existsSync(join(programs, "initdb"))
      );
    });
}

/** The command that runs pgbench; undefined when it is not installed. */
export function findPgbench(): string | undefined {
  if (isInstalled("pgbench")) return "pgbench";
  const programs = debianPrograms();
  const command = programs === undefined ? undefined : join(programs, "pgbench");
  return command !== undefined && existsSync(command) ? command : undefined;
}

function byVersion(a: string, b: string): number {
  return versionOf(a) - versionOf(b);
}

function versionOf(programs: string): number {
  return Number(/(\d+)\/bin$/.exec(programs)?.[1]);
}
