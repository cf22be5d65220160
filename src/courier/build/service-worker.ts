import { join } from "node:path";
import { rolldown } from "rolldown";
import type { Plugin } from "vite";

/**
 * Creates a plugin that builds a service worker as one classic script, `sw.js`, because not all browsers run
 * modules as service workers. The constant `SHELL` contains the paths of the page's files.
 *
 * @param entry path of the service worker's source in the root folder
 */
export function serviceWorker(entry: string): Plugin {
  let root = "";
  let base = "";
  return {
    name: "service-worker",
    configResolved: (config) => void ({ root, base } = config),
    generateBundle: {
      order: "post",
      async handler(_options, bundle) {
        const assets = Object.keys(bundle).filter((name) => name.startsWith("assets/"));
        const shell = [base.replace(/\/$/, ""), ...assets.map((name) => `${base}${name}`)];
        const worker = await rolldown({
          input: join(root, entry),
          transform: { target: "es2022", define: { SHELL: JSON.stringify(shell) } },
        });
        const { output } = await worker.generate({ format: "iife", minify: true, codeSplitting: false });
        await worker.close();
        this.emitFile({ type: "asset", fileName: "sw.js", source: output[0].code });
      },
    },
  };
}
