import { fileURLToPath } from "node:url";

// Without optional packages there is neither Vite nor, perhaps, a Node that reads TypeScript: what
// needs no pages is installed all the same, and runs from its sources.
const vite = await import("vite").catch((error) => {
  if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
  process.stdout.write("Vite is not installed: neither program nor pages are built.\n");
});
// One process for all, since starting Vite takes as long as building one of them.
for (const folder of vite === undefined ? [] : [".", "dashboard", "docs-pages"]) {
  await vite.build({ root: fileURLToPath(new URL(folder, import.meta.url)) });
}
