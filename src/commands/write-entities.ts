import { globSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { EntitySchema } from "@mikro-orm/core";

/** The list of all entities. */
export const ENTITY_LIST = new URL("../server/entities.ts", import.meta.url);
const SRC = fileURLToPath(new URL("..", import.meta.url));

/** Writes the list of the entities that the features' `*.entity.ts` files export. Returns them. */
export async function writeEntities(): Promise<readonly EntitySchema[]> {
  const modules = await Promise.all(
    globSync("features/**/*.entity.ts", { cwd: SRC })
      .toSorted((a, b) => basename(a).localeCompare(basename(b)))
      .map(async (file) => [file, await entitiesIn(file)] as const),
  );
  const imports = modules.map(
    ([file, exported]) => `import { ${Object.keys(exported).join(", ")} } from "../${file}";\n`,
  );
  const names = modules.flatMap(([, exported]) => Object.keys(exported));
  writeFileSync(
    ENTITY_LIST,
    `${imports.join("")}
/** The entities of all features. \`npm run migration:create\` writes this list. */
export const ENTITIES = [${names.map((name) => `${name},`).join("\n")}];
`,
  );
  return modules.flatMap(([, exported]) => Object.values(exported));
}

async function entitiesIn(file: string): Promise<Readonly<Record<string, EntitySchema>>> {
  const exported = (await import(`${SRC}${file}`)) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(exported).filter((entry): entry is [string, EntitySchema] => entry[1] instanceof EntitySchema),
  );
}
