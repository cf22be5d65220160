import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isolatedDeclarationSync } from "rolldown/experimental";
import type { Plugin } from "vite";

/** Writes the types of each module to a file next to the bundle. Types of the definitions stay in `gen`. */
export function declareTypes(folder: string): Plugin {
  return {
    name: "declare-types",
    generateBundle() {
      const modules = readdirSync(folder).filter((name) => name.endsWith(".ts"));
      for (const name of modules.filter((each) => each !== "vite.config.ts")) {
        const { code, errors } = isolatedDeclarationSync(name, readFileSync(join(folder, name), "utf8"));
        if (errors.length > 0) this.error(`${name}: ${errors[0]!.message}`);
        const source = code.replaceAll("../../gen/", "../../../gen/");
        this.emitFile({ type: "asset", fileName: name.replace(/ts$/, "d.ts"), source });
      }
    },
  };
}
