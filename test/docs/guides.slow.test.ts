import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pino } from "pino";
import { parse } from "yaml";
import { OperatorService } from "../../gen/shipments/admin/v1/operator_service_pb.js";
import { demoEnvironment } from "../../src/commands/serve.ts";
import { readConfig } from "../../src/config/config.ts";
import { DEMO } from "../../src/demo/demo-sign-in.ts";
import { fillEmptyDatabase } from "../../src/demo/fill-empty-database.ts";
import { type App, createApp } from "../../src/server/app.ts";
import { callLocally } from "../../src/server/local-rpcs.ts";
import { BOOKING } from "../support/bookings.ts";
import { createDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { HAS_GRPCIO } from "../support/foreign-client.ts";
import { freePort } from "../support/free-port.ts";
import { rotateKeys } from "../support/platform.ts";
import { makeProtoRepository } from "../support/proto-repository.ts";
import { runProgram } from "../support/run-program.ts";
import { SAMPLE_TARIFF } from "../support/tariffs.ts";
import { formatAnswer, parseAnswer, showAnswer } from "./answers.ts";
import { correctAnswers, readGuides, type Guide, type GuideBlock } from "./guide-blocks.ts";
import { startShellSession, type ShellSession } from "./shell-session.ts";

/*
 * Runs every block in README.md and the guides, in the order of the page. A block of `sh` must succeed. A `curl` in it
 * fails if the response is an error. The text after the language, which readers do not see, can contain:
 *
 *     sh norun: <why>            the block is not run
 *     sh background=<text>       the block has started when it prints the text, and runs until the end of the guide
 *     sh prints=<text>           the block or a background block must print the text
 *     sh needs=<tool>            the block is run only if the tool is installed. Tests need no network
 *     sh status=<status>         every `curl` in the block must return the status, for example that of a refusal
 *     json answer                the response to the last `curl`, see answers.ts
 *     json sketch                JSON that is not the response to a call in the guide
 *
 * To update the responses in the guides, run
 * `WRITE_ANSWERS=true node test/run.ts test/docs/guides.slow.test.ts`.
 *
 * A block of `ts`, `python`, `go`, `proto` or `yaml` is saved under the name given in the text before it, so that
 * blocks of `sh` can use it. TypeScript is also type-checked. `json` and `yaml` must be well-formed.
 */

const REPOSITORY = join(import.meta.dirname, "../..");

/**
 * Placeholders in guides by kind, with a pattern for printed values. The last printed value replaces a placeholder.
 */
const PLACEHOLDERS: Readonly<Record<string, RegExp>> = {
  "shp_...": /shp_(?!test_)\w{20,}/g,
  "shp_test_...": /shp_test_\w{20,}/g,
  "sho_...": /sho_\w{20,}/g,
  XXXX: /(?<=\.\.\.)\w{4}(?= until)/g,
  "cou_...": /cou_[0-9a-f]{24}/g,
  "key_...": /key_[0-9a-f]{24}/g,
  "SHP-...": /SHP-[0-9A-Z]{12}/g,
  "wh_...": /wh_[0-9a-f]{24}/g,
  "whsec_...": /whsec_[\w+/=]{20,}/g,
  "quo_...": /quo_[\w-]{12,}/g,
};

/** Tools that blocks need, with a check whether each is installed. */
const TOOLS: Readonly<Record<string, () => boolean>> = {
  grpcio: () => HAS_GRPCIO && areOnPath("protoc", "grpc_python_plugin"),
  python3: () => areOnPath("python3"),
  "go-alone": () => areOnPath("go"),
  express: () => ["express", "@types/express"].every(isInstalled),
  go: () => areOnPath("go", "protoc-gen-go", "protoc-gen-go-grpc"),
  "go-packages": () => TOOLS["go"]!() && areOnPath("protoc") && hasGoPackages(),
};

function areOnPath(...programs: readonly string[]): boolean {
  const found = programs.map((it) => spawnSync("sh", ["-c", `command -v ${it}`]).status === 0);
  return !found.includes(false);
}

function isInstalled(name: string): boolean {
  return existsSync(join(REPOSITORY, "node_modules", name));
}

/** Whether Debian's packages of gRPC and Protobuf 1.5 for Go are installed. Tests download no packages. */
function hasGoPackages(): boolean {
  return ["google.golang.org/grpc", "github.com/golang/protobuf/proto/wire.go"].every((name) =>
    existsSync(join("/usr/share/gocode/src", name)),
  );
}

/** Creates a guide's working folder with links to the repository's files, and with the reader's own tariff files. */
function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "guide-"));
  for (const name of ["package.json", "package-lock.json", "node_modules", "src", "proto", "gen"]) {
    symlinkSync(join(REPOSITORY, name), join(folder, name));
  }
  const { zones, ...fees } = SAMPLE_TARIFF as { zones: object };
  writeFileSync(join(folder, "tariff.json"), JSON.stringify({ ...fees, base_fee: "6.00", zones }));
  writeFileSync(join(folder, "zones.geojson"), JSON.stringify(zones));
  return folder;
}

/** A reader of one guide, with a shell and values for the guide's placeholders. */
interface Reader {
  readonly shell: ShellSession;
  /** Environment variables of the service. */
  readonly settings: Readonly<Record<"DATABASE_URL" | "PORT" | "GRPC_PORT", string>>;
  /** Replaces placeholders as the reader would when copying the text. */
  filledIn(text: string): string;
  close(): Promise<void>;
}

async function startReader(folder: string): Promise<Reader> {
  const database = await createDatabase();
  const repository = makeProtoRepository(join(folder, "shipments.git"));
  const ports = await Promise.all(Array.from({ length: 5 }, freePort));
  const [port, grpcPort, ...receiverPorts] = ports.map(String);
  const bin = [join(import.meta.dirname, "bin"), join(REPOSITORY, "node_modules/.bin")];
  const settings = {
    DATABASE_URL: database.url,
    PORT: port!,
    GRPC_PORT: grpcPort!,
    WEBHOOK_ALLOW_LOOPBACK_HTTP: "true",
  };
  const shell = startShellSession({
    PATH: [...bin, process.env["PATH"]].join(":"),
    HOME: folder,
    REPOSITORY,
    ...settings,
    NO_COLOR: "1",
  });
  await shell.run(`cd '${folder}'`);

  function lastPrinted(placeholder: string, kind: RegExp): string {
    const last = shell.printed().match(kind)?.at(-1);
    if (last === undefined) throw new Error(`no earlier output contains a value for ${placeholder}`);
    return last;
  }

  return {
    shell,
    settings,
    filledIn: (text) =>
      Object.entries(PLACEHOLDERS)
        .filter(([placeholder]) => text.includes(placeholder))
        .reduce((it, [name, kind]) => it.replaceAll(name, lastPrinted(name, kind)), text)
        .replaceAll(/(127\.0\.0\.1|localhost):8080/g, `127.0.0.1:${port}`)
        .replaceAll("127.0.0.1:9090", `127.0.0.1:${grpcPort}`)
        .replaceAll(/\b300([012])\b/g, (_, receiver) => receiverPorts[Number(receiver)]!)
        .replaceAll("postgres://...", database.url)
        .replaceAll("https://git.example.org/shipments.git", repository)
        .replaceAll("path/to/shipments", REPOSITORY),
    async close() {
      await shell.close();
      await database.drop();
    },
  };
}

function createDemo({ settings }: Reader): App {
  const config = readConfig(demoEnvironment(settings));
  return createApp({ ...config, databaseUrl: settings.DATABASE_URL }, pino({ level: "silent" }));
}

/** Starts the demo, like `npm start` in the README. Sets new keys and books a shipment. */
async function followReadme(demo: App, { shell, filledIn }: Reader): Promise<void> {
  await demo.prepare();
  await demo.listen();
  const testKey = await fillEmptyDatabase(demo);
  await eventually("the tariff", () => demo.hasTariff());
  const key = await rotateKeys(demo.em, 1, 0);
  const { operatorKey } = await callLocally(demo.em, DEMO, OperatorService.method.rotateOperatorKey, { operator: 1n });
  await shell.run(`echo ${testKey} ${key} ${operatorKey}`);
  await shell.run(`export SHIPMENTS_KEY=${key} OPERATOR_KEY=${operatorKey} PORT=0 GRPC_PORT=0`);
  await shell.run(
    filledIn(`curl -sS http://127.0.0.1:8080/v1/shipments -d '${JSON.stringify(BOOKING)}' \\
      -H "Authorization: Bearer $SHIPMENTS_KEY" -H 'Content-Type: application/json'`),
  );
}

/** Type-checks TypeScript files as strictly as the project, with the packages in their folders. */
async function expectStrict(home: string, files: readonly string[]): Promise<void> {
  const config = {
    extends: join(REPOSITORY, "tsconfig.json"),
    compilerOptions: {
      lib: ["esnext", "dom", "dom.iterable"],
      typeRoots: [join(REPOSITORY, "node_modules/@types")],
      // Generated clients contain enums, which are not erasable syntax.
      erasableSyntaxOnly: false,
    },
    include: files,
  };
  writeFileSync(join(home, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(REPOSITORY, "node_modules/.bin/tsc");
  expect(await runProgram(tsc, ["-p", home], { cwd: home })).toEqual({ code: 0, stdout: "", stderr: "" });
}

/** Matches the file name in the text before a block. */
const FILE_NAME = /\b(?:[Ss]ave this|and this)\s+as\s+`([^`]+)`/;

const LANGUAGES = ["sh", "ts", "python", "go", "proto", "yaml", "json"];

/** Parses the options after a block's language. */
function notesOf({ note }: GuideBlock): Readonly<Partial<Record<string, string>>> {
  return Object.fromEntries([...note.matchAll(/(\w+)=(\S+)/g)].map(([, name, text]) => [name, text]));
}

/** Whether a block is a diagram or sample that is not run, because it has no language. */
function isExample({ language }: GuideBlock): boolean {
  return language !== "" && language !== "text";
}

function hasExamples({ blocks }: Guide): boolean {
  return blocks.some(isExample);
}

describe.each(readGuides().filter(hasExamples))("the examples of $name run", ({ name, path, blocks }) => {
  let home: string;
  const sources: string[] = [];
  const corrections = new Map<number, string>();
  let folder: string;
  let reader: Reader;
  let demo: App | undefined;

  beforeAll(async () => {
    home = folder = makeFolder();
    reader = await startReader(home);
    if (name === "README.md") return;
    demo = createDemo(reader);
    await followReadme(demo, reader);
  });

  afterAll(async () => {
    correctAnswers(path, corrections);
    await demo?.close();
    await reader.close();
    rmSync(home, { recursive: true });
  });

  async function enterFolder(before: string): Promise<void> {
    if (/^## /m.test(before)) folder = home;
    if (/\bin an empty\s+folder\b/i.test(before)) folder = mkdtempSync(join(home, "empty-"));
    await reader.shell.run(`cd '${folder}'`);
  }

  function save({ language, before, text }: GuideBlock): void {
    const file = FILE_NAME.exec(before)?.[1];
    if (file === undefined) throw new Error("the text before the block does not name its file");
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), reader.filledIn(text));
    if (language === "ts") sources.push(join(folder, file));
  }

  function expectAnswer({ text, line }: GuideBlock): void {
    const answer = JSON.parse(readFileSync(join(home, ".answer"), "utf8")) as unknown;
    const shown = parseAnswer(text);
    const expected = showAnswer(shown, answer);
    if (process.env["WRITE_ANSWERS"] !== "true") expect(shown).toEqual(expected);
    else if (!isDeepStrictEqual(shown, expected)) corrections.set(line, formatAnswer(expected));
  }

  async function follow(block: GuideBlock): Promise<void> {
    const { language, text } = block;
    const { background, prints, status } = notesOf(block);
    if (language === "json" && block.note !== "answer") JSON.parse(text);
    if (language === "json" && block.note === "answer") expectAnswer(block);
    if (language === "yaml") parse(text);
    if (["ts", "python", "go", "proto"].includes(language) || FILE_NAME.test(block.before)) {
      save(block);
    }
    if (language !== "sh") return;
    const { shell, filledIn } = reader;
    const command = status === undefined ? text : `export ANSWERS_STATUS=${status}\n${text}unset ANSWERS_STATUS`;
    if (background === undefined) await shell.run(filledIn(command), prints);
    else await shell.start(filledIn(text), background);
  }

  for (const block of blocks.filter(isExample)) {
    const { language, note, line } = block;
    const { needs } = notesOf(block);
    const isRun = !/^norun: ./.test(note) && (needs === undefined || TOOLS[needs]!());
    test.runIf(isRun)(`line ${line}, ${[language, note].join(" ")}`, async () => {
      expect(LANGUAGES).toContain(language);
      expect(note).toMatch(language === "json" ? /^(answer|sketch)$/ : /^((background|prints|needs|status)=\S+ ?)*$/);
      await enterFolder(block.before);
      await follow(block);
    });
  }

  if (blocks.some(({ language }) => language === "ts")) {
    test("its TypeScript compiles in strict mode", () => expectStrict(home, sources));
  }
});
