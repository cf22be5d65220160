import { fileURLToPath } from "node:url";
import { build } from "vite";

// One process for both, since starting Vite takes as long as building one of them.
for (const folder of ["dashboard", "docs-pages"]) {
  await build({ root: fileURLToPath(new URL(folder, import.meta.url)) });
}
