import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProcess, type Environment, type Running } from "./command.ts";

/** Whether images can be built and run. Requires root, Linux and buildah. */
export const canBuildImages =
  process.platform === "linux" &&
  spawnSync("buildah", ["--version"]).status === 0 &&
  spawnSync("unshare", ["--mount", "true"]).status === 0;

/** Start configuration that container engines read from an image. */
interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly WorkingDir: string;
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly StopSignal: string;
  readonly ExposedPorts: Readonly<Record<string, object>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
  readonly Labels: Readonly<Record<string, string>>;
}

/** An image built for a test, in its own storage. */
export interface Image {
  readonly config: ImageConfig;
  /** Folder where the image's files are mounted. */
  readonly files: string;
  readonly output: string;
  /**
   * Starts a program as a container engine with a read-only root file system does: with the image's
   * user, working folder and environment, plus the given environment. Only `/tmp` is writable. The
   * program uses this machine's network.
   */
  start(program: readonly string[], environment?: Environment): Running;
  remove(): void;
}

/**
 * Script that sh runs in a separate mount namespace. Arguments: the image's folder, user and group, folder, program.
 */
const ENTER = `set -e
mount --bind "$1" "$1"
mount -o remount,bind,ro "$1"
mount -t tmpfs tmpfs "$1/tmp"
mount --rbind /dev "$1/dev"
root=$1 user=$2 group=$3 folder=$4
shift 4
exec unshare --root "$root" --wd "$folder" --setgid "$group" --setuid "$user" -- "$@"`;

/** Builds the image on a base that contains this machine's Node. */
export async function buildImage(): Promise<Image> {
  const folder = mkdtempSync(join(tmpdir(), "image-"));
  const env = storageIn(folder);
  const options = { encoding: "utf8", env } as const;
  const buildah = (...args: string[]) => execFileSync("buildah", args, options).trim();
  const remove = () => {
    buildah("rm", "--all");
    rmSync(folder, { recursive: true });
  };
  try {
    const script = ["src/deploy/build-image.sh", "--local-base", TAG];
    const output = await outputOf(script, env);
    const files = buildah("mount", buildah("from", "--pull-never", TAG));
    const inspected = JSON.parse(buildah("inspect", "--type", "image", TAG));
    const config = inspected.Docker.config as ImageConfig;
    return { config, files, output, start: starter(files, config), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Returns an environment in which buildah stores everything in a folder, with its fastest settings. */
function storageIn(folder: string): NodeJS.ProcessEnv {
  const file = join(folder, "storage.conf");
  const folders = `graphroot = "${folder}/graph"\nrunroot = "${folder}/run"`;
  writeFileSync(file, `[storage]\ndriver = "vfs"\n${folders}\n`);
  const common = { ...process.env, CONTAINERS_STORAGE_CONF: file };
  const overlay = { ...common, STORAGE_DRIVER: "overlay" };
  const works = spawnSync("buildah", ["info"], { env: overlay }).status === 0;
  return works ? overlay : { ...common, STORAGE_DRIVER: "vfs" };
}

const TAG = "localhost/shipment-booking:test";

/** Runs a program that must succeed, and returns its output. */
async function outputOf([file, ...args]: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(file!, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const code = await new Promise((resolve, reject) => {
    child.on("error", reject).on("close", resolve);
  });
  if (code !== 0) throw new Error(output);
  return output;
}

function starter(files: string, { User, Env, WorkingDir }: ImageConfig): Image["start"] {
  const [user, group] = User.split(":");
  return (program, environment = {}) => {
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
    const inside = ["env", "-i", ...Env, ...variables, ...program];
    const enter = ["sh", "-c", ENTER, "sh", files, user!, group!, WorkingDir, ...inside];
    return startProcess("unshare", ["--mount", "--propagation", "private", ...enter], {});
  };
}
