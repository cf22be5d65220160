import { fileURLToPath } from "node:url";

// Vite contains native code in optional packages. Without it, only the pages are missing and the
// program runs from its sources.
const vite = await import("vite").catch(({ message }) => {
  process.stdout.write(`Vite cannot be loaded: nothing is built. ${message}\n`);
});
// One process for all, because starting Vite takes as long as building one of them.
for (const folder of vite === undefined ? [] : [".", "client", "dashboard", "docs-pages"]) {
  await vite.build({ root: fileURLToPath(new URL(folder, import.meta.url)) });
}
