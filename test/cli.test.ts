import dns from "node:dns";
import { expect, test, vi } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { runCommand, runProcess } from "./support/command.ts";
import { createDatabase } from "./support/database.ts";
import { startServiceProcess } from "./support/service-process.ts";

const database = await createDatabase();

/** Database URL on a port that is closed. */
const NO_DATABASE = { DATABASE_URL: "postgres://user:hidden@127.0.0.1:1/none" };

const WRONG = [
  [],
  ["nonsense"],
  ["migrate", "extra"],
  ["serve", "--nonsense"],
  ["tariff", "publish", "--json"],
  ["workspace", "create", "--json"],
  ["workspace", "create", "--name", " "],
  ["payment-provider", "connect", "--workspace", "1", "--provider", "nonsense"],
  ["key", "rotate", "--workspace", "0"],
  ["key", "rotate", "--workspace", "1", "--overlap", "-1"],
  ["key", "rotate", "--workspace", "1", "--overlap", "604801"],
  ["key", "revoke", "--workspace", "1", "--last4", "ab-d"],
];

test.each(WRONG.map((args) => ({ said: args.join(" "), args })))(
  "wrong usage is refused before connecting to the database: $said",
  async ({ args }) => {
    const { code, stdout, stderr } = await runCommand(args, NO_DATABASE);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("Usage: shipments");
  },
);

test.each([
  [["--version"], 0],
  [["tariff", "list"], 1],
  [["nonsense"], 2],
])("the process for %j exits with code %j and prints the same output", async (args, code) => {
  const ended = await runProcess(args, NO_DATABASE);
  const stderr = ended.stderr.replace("Usage: node src/cli.js ", "Usage: shipments ");
  expect({ ...ended, stderr }).toEqual({ ...(await runCommand(args, NO_DATABASE)), code });
});

test("help exits with 0", async () => {
  const { code, stdout, stderr } = await runCommand(["key", "rotate", "--help"], NO_DATABASE);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("--overlap <seconds>");
});

test("--version prints the version, and --help mentions it", async () => {
  const help = await runCommand(["--help"], NO_DATABASE);
  expect(help.stdout).toMatch(/^ +-V, --version +print the version$/m);
  expect(await runCommand(["--version"], NO_DATABASE)).toEqual({
    code: 0,
    stdout: `${manifest.version}\n`,
    stderr: "",
  });
});

const DATABASE_URL_FAULT = "must be an address such as postgres://user:password@host:5432/database";

const FAULTY: readonly (readonly [variable: string, value: string, sentence: string])[] = [
  ["PORT", "abc", "must be a whole number from 0 to 65535"],
  ["GRPC_PORT", "65536", "must be a whole number from 0 to 65535"],
  ["OPERATIONS_PORT", "-1", "must be a whole number from 0 to 65535"],
  ["DASHBOARD", "yes", "must be on or off"],
  ["LOG_LEVEL", "loud", "must be fatal, error, warn, info, debug, trace or silent"],
  ["LOG_FORMAT", "xml", "must be json or text"],
  [
    "SECRETS_KEYS",
    `${"A".repeat(43)}=,${"A".repeat(40)}`,
    "must be keys of 32 bytes in base64, separated by commas. Create one with `openssl rand -base64 32`",
  ],
  ["STRIPE_SECRET_KEY", "sk_test_1", "must be a live key such as sk_live_... Set test keys in STRIPE_TEST_SECRET_KEY"],
  ["STRIPE_TEST_SECRET_KEY", "rk_live_1", "must be a test key such as sk_test_... Set live keys in STRIPE_SECRET_KEY"],
  ["STRIPE_TEST_WEBHOOK_SECRET", "secret", "must be a secret such as whsec_..., or two secrets separated by a comma"],
  ["WEBHOOK_ALLOW_LOOPBACK_HTTP", "perhaps", "must be true or false"],
  ["REUSE_PORT", "perhaps", "must be true or false"],
  ["DATABASE_URL", "mysql://x", DATABASE_URL_FAULT],
  ["PUBLIC_URL", "https://x.example/path", "must be an origin such as https://book.example.org"],
  [
    "TRUSTED_PROXIES",
    "127.0.0.1, 10.0.0.0/33",
    '"10.0.0.0/33" is neither an IP address nor a network such as 10.0.0.0/8',
  ],
  ["OIDC_ASSUME_EMAIL_VERIFIED", "perhaps", "must be true or false"],
  ["SMTP_URL", "smtp://ada@x.example/path", "must be an address such as smtps://user:password@smtp.example.org:465"],
  ["MAIL_FROM", "Shipments", "must be an address such as Shipments <no-reply@example.org>"],
  [
    "MAP_TILES_URL",
    "https://tiles.example.org/{z}/{x}.png",
    "must be a URL such as https://tiles.example.org/{z}/{x}/{y}.png",
  ],
  ["MAP_TILES_FILE", "package.json", "must be a readable PMTiles file, version 3, with PNG, JPEG, WebP or AVIF images"],
  ["MAP_TILES_ATTRIBUTION", "©".repeat(201), "must have at most 200 characters"],
  ["GEOCODER", "google", "must be photon, nominatim or pelias"],
  [
    "GEOCODER_URL",
    "https://x.example/?key=1",
    "must be an address such as https://photon.example.org, without user, query or fragment",
  ],
  ["GEOCODER_KEY", "a\nb", "must be at most 999 visible characters"],
  ["GEOCODER_KEY_HEADER", "User-Agent", "must be a header that carries a key, such as Authorization"],
  ["GEOCODER_ATTRIBUTION", "x".repeat(201), "must be at most 200 characters"],
  [
    "PICTURES_S3_URL",
    "ftp://pictures.example.org",
    "must be an address such as https://pictures.s3.eu-central-1.amazonaws.com, without user, query or fragment",
  ],
  ["PICTURES_S3_REGION", "Frankfurt", "must be the name of a region such as eu-central-1"],
  ["PICTURES_S3_ACCESS_KEY_ID", "a b", "must be at most 500 visible characters"],
  ["PICTURES_S3_SECRET_ACCESS_KEY", "a b", "must be at most 500 visible characters"],
  ["OIDC_ISSUER", "http://x.example", "must be an address such as https://accounts.example.org"],
];

/** Variables whose secret value messages omit, and TRUSTED_PROXIES, of which they quote only a part. */
const NOT_SHOWN = /SECRET|DATABASE_URL|SMTP_URL|MAP_TILES_URL|GEOCODER_URL|_KEY$|TRUSTED_PROXIES/;

test("reports all invalid environment variables together, with their rules and their values except secrets", async () => {
  const shown: Readonly<Record<string, string>> = {
    MAP_TILES_ATTRIBUTION: `${"©".repeat(40)}…`,
    GEOCODER_ATTRIBUTION: `${"x".repeat(40)}…`,
  };
  const faulty = Object.fromEntries(FAULTY.map(([variable, value]) => [variable, value]));
  const { code, stdout, stderr } = await runCommand(["serve"], faulty);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  const sentences = FAULTY.map(([variable, value, sentence]) => {
    const said = NOT_SHOWN.test(variable) ? "" : `; it is "${shown[variable] ?? value}"`;
    return `${variable}: ${sentence}${said}`;
  });
  expect(stderr.trimEnd().split("\n").toSorted()).toEqual(sentences.toSorted());
});

test.each([
  ["postgres://user:100%@host/db", "must have special characters in its user and password escaped: write % as %25"],
  ["postgres://host:port/db", DATABASE_URL_FAULT],
  ["postgres://host", DATABASE_URL_FAULT],
])("reports an invalid database URL without its password: %s", async (url, fault) => {
  const { code, stderr } = await runCommand(["migrate"], { DATABASE_URL: url });
  expect({ code, stderr }).toEqual({ code: 1, stderr: `DATABASE_URL: ${fault}\n` });
});

const TILES = "https://tiles.example.org/{z}/{x}/{y}.png";
const GEOCODER_URL = "https://photon.example.org";
const OF_OIDC = "must be set for OIDC sign-in";
const OF_MAILS = "must be set for sending email through SMTP_URL";
const APART = "give them different ports";

test.each<[environment: Record<string, string>, ...lines: string[]]>([
  [{ GRPC_PORT: "8080" }, `PORT and GRPC_PORT are both 8080: ${APART}`],
  [{ OPERATIONS_PORT: "9090" }, `GRPC_PORT and OPERATIONS_PORT are both 9090: ${APART}`],
  [{ GRPC_PORT: "1", OPERATIONS_PORT: "1", PORT: "1" }, `PORT and GRPC_PORT and OPERATIONS_PORT are all 1: ${APART}`],
  [
    { REUSE_PORT: "true" },
    "OPERATIONS_PORT: must be set for REUSE_PORT, to a separate port for each process: a probe at a shared port could reach any process",
  ],
  ...["PORT", "GRPC_PORT"].map((name): [Record<string, string>, string] => [
    { REUSE_PORT: "true", OPERATIONS_PORT: "9101", [name]: "0" },
    `${name}: must not be 0 for REUSE_PORT: give all processes the same port`,
  ]),
  [
    { OIDC_CLIENT_ID: "shipments" },
    `OIDC_ISSUER: ${OF_OIDC}`,
    `OIDC_CLIENT_SECRET: ${OF_OIDC}`,
    `PUBLIC_URL: ${OF_OIDC}`,
  ],
  [{ SMTP_URL: "smtp://smtp.example.org:587" }, `MAIL_FROM: ${OF_MAILS}`, `PUBLIC_URL: ${OF_MAILS}`],
  [{ MAP_TILES_URL: TILES }, "MAP_TILES_ATTRIBUTION: must name the source of the map tiles, as their license requires"],
  [
    { MAP_TILES_ATTRIBUTION: "© Example" },
    "MAP_TILES_URL: must be set because MAP_TILES_ATTRIBUTION is set; alternatively, set MAP_TILES_FILE",
  ],
  [
    { PICTURES_S3_REGION: "eu-central-1", PICTURES_S3_ACCESS_KEY_ID: "AK" },
    "PICTURES_S3_URL: must be set for pictures in a bucket",
    "PICTURES_S3_SECRET_ACCESS_KEY: must be set for pictures in a bucket",
  ],
  [{ GEOCODER_URL }, "GEOCODER: must be photon, nominatim or pelias if GEOCODER_URL is set"],
  [{ GEOCODER: "photon" }, "GEOCODER_URL: must be set to the geocoder's URL if GEOCODER is set"],
  [
    { GEOCODER: "photon", GEOCODER_URL, GEOCODER_KEY: "secret" },
    "GEOCODER_KEY: must not be set for photon, which takes no key",
  ],
  [
    { GEOCODER: "pelias", GEOCODER_URL, GEOCODER_KEY_HEADER: "X-Key" },
    "GEOCODER_KEY: must be set if GEOCODER_KEY_HEADER is set",
  ],
])("refuses variables that conflict or need another variable: %j", async (set, ...lines) => {
  const { code, stderr } = await runCommand(["serve"], set);
  expect({ code, stderr }).toEqual({ code: 1, stderr: `${lines.join("\n")}\n` });
});

test.each([
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://ada:hidden@x.example/", '"...@x.example/"'],
  ["PUBLIC_URL", "https://ada:hid/den@x.example/?key=hidden", '"...@x.example/?..."'],
  ["PUBLIC_URL", "x.example\n", '"x.example\\n"'],
])("reports a wrong %s without its user and query: %j", async (variable, value, shown) => {
  const { code, stderr } = await runCommand(["serve"], { [variable]: value });
  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`^${variable}: must be .*; it is `));
  expect(stderr.trimEnd().endsWith(`; it is ${shown}`), stderr).toBe(true);
});

test("warns about a variable whose name is close to one of the service's variables", async () => {
  const misspelt = {
    DATABSE_URL: "postgres://ada:hidden@x.example/db",
    log_level: "debug",
    SHUTDOWN_DELAY: "5",
    WEBHOOK_ALLOW_LOOPBACK: "true",
    POST: "80",
    PATH_OF_DATA: "x",
  };
  const warnings = [
    "DATABSE_URL has no effect; the service reads DATABASE_URL",
    "log_level has no effect; the service reads LOG_LEVEL",
    "SHUTDOWN_DELAY has no effect; the service reads SHUTDOWN_DELAY_SECONDS",
    "WEBHOOK_ALLOW_LOOPBACK has no effect; the service reads WEBHOOK_ALLOW_LOOPBACK_HTTP",
  ];
  const served = await startServiceProcess({ DATABASE_URL: database.url, ...misspelt });
  const said = served.log().map(({ msg }) => msg as string);
  expect(said.filter((msg) => msg.includes("no effect"))).toEqual(warnings);
});

test("treats an empty environment variable as unset", async () => {
  const { stderr } = await runCommand(["tariff", "list"], {
    ...NO_DATABASE,
    PORT: "",
    LOG_LEVEL: " ",
  });
  expect(stderr).not.toMatch(/PORT|LOG_LEVEL/);
});

test("names an unreachable database in the error, without its password", async () => {
  const { code, stdout, stderr } = await runCommand(["tariff", "list", "--json"], NO_DATABASE);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toBe(
    "cannot use the database: no server listens at 127.0.0.1:1; start PostgreSQL there, or correct DATABASE_URL\n",
  );
});

test("names a database host with several unreachable addresses in the error", async () => {
  const addresses = ["127.0.0.1", "127.0.0.2"].map((address) => ({ address, family: 4 }));
  using lookup = vi
    .spyOn(dns, "lookup")
    .mockImplementation(((...args: Function[]) => args.at(-1)!(null, addresses)) as never);
  const environment = { DATABASE_URL: "postgres://database.invalid:1/none" };
  const { code, stderr } = await runCommand(["tariff", "list"], environment);
  expect(lookup).toHaveBeenCalled();
  expect(code).toBe(1);
  expect(stderr).toBe(
    "cannot use the database: no server listens at 127.0.0.1:1, no server listens at 127.0.0.2:1; start PostgreSQL there, or correct DATABASE_URL\n",
  );
});
