import { basename, relative } from "node:path";

/**
 * Returns the command line that started the program, without its arguments, for usage texts.
 *
 * @param script path of the script or of the link to it, as in `process.argv[1]`
 * @param env the environment, in which npm names its command and script
 */
export function typedCommand(script: string, env: NodeJS.ProcessEnv): string {
  if (env["npm_lifecycle_event"] === "shipments") return "npm run --silent shipments --";
  const name = basename(script);
  if (/\.[jt]s$/.test(name)) return `node ${relative("", script)}`;
  return env["npm_command"] === "exec" ? `npx ${name}` : name;
}
