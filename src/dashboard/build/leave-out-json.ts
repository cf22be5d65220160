import type { Plugin } from "vite";

/**
 * Leaves out the JSON encoding of messages, 5 kB of each page: all calls use the binary format. The clients' library
 * refers to it all the same, so what it would call throws.
 */
export function leaveOutJson(): Plugin {
  return {
    name: "leave-out-json",
    enforce: "pre",
    transform(code, id) {
      if (!/@bufbuild\/protobuf\/dist\/esm\/(from|to)-json\.js$/.test(id)) return undefined;
      const names = [...code.matchAll(/^export function (\w+)/gm)].map(([, name]) => name);
      return `function leftOut() { throw new Error("messages have no JSON in this build"); }
        export { ${names.map((name) => `leftOut as ${name}`).join(", ")} };`;
    },
  };
}
