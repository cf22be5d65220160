import { Command } from "commander";
import { readConfig } from "../config/config.ts";
import { serve } from "./serve.ts";

/** `serve [--demo]` */
export function serveCommand(): Command {
  return new Command("serve")
    .description("run the service until SIGTERM or SIGINT")
    .option("--demo", "first fill an empty database with a sample tariff and a workspace", false)
    .action(({ demo }: { demo: boolean }) => serve(readConfig(process.env), demo));
}
