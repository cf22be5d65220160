import { fileURLToPath } from "node:url";

// Part of Vite is native code, which comes as optional packages: what needs no pages is installed
// without them all the same, and runs from its sources.
const vite = await import("vite").catch(({ message }) => {
  process.stdout.write(`Vite cannot be loaded: nothing is built. ${message}\n`);
});
// One process for all, since starting Vite takes as long as building one of them.
for (const folder of vite === undefined ? [] : [".", "client", "dashboard", "docs-pages"]) {
  await vite.build({ root: fileURLToPath(new URL(folder, import.meta.url)) });
}
