import { basename, relative } from "node:path";

/**
 * Returns the command that started the program, without its arguments, for usage texts.
 *
 * @param script path of the script or of a link to it, as in `process.argv[1]`
 * @param env environment, which contains npm's command and script names
 */
export function typedCommand(script: string, env: NodeJS.ProcessEnv): string {
  if (env["npm_lifecycle_event"] === "shipments") return "npm run --silent shipments --";
  const name = basename(script);
  if (/\.[jt]s$/.test(name)) return `node ${relative("", script)}`;
  return env["npm_command"] === "exec" ? `npx ${name}` : name;
}
