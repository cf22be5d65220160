import { fileURLToPath } from "node:url";

// Vite needs optional packages with native code. If they are missing, there are no pages, and the
// program runs from its sources.
const vite = await import("vite").catch(({ message }) => {
  process.stdout.write(`Vite cannot be loaded, so nothing is built. ${message}\n`);
});
// One process builds all folders, because starting Vite takes as long as one build.
for (const folder of vite === undefined ? [] : [".", "client", "courier", "dashboard", "docs-pages"]) {
  await vite.build({ root: fileURLToPath(new URL(folder, import.meta.url)) });
}
