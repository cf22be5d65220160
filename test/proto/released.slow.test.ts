import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { protoArchive } from "../../src/docs-pages/build/proto-archive.ts";
import { makeProtoRepository } from "../support/proto-repository.ts";
import { runProgram } from "../support/run-program.ts";

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "proto-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Returns the output of `npm run breaking` after one text in a definition is replaced. */
async function breakingAfter(file: string, from: string, to: string) {
  const folder = makeFolder();
  for (const name of ["proto", "buf.yaml", "package.json", "test/proto"]) {
    cpSync(name, join(folder, name), { recursive: true });
  }
  const path = join(folder, "proto/shipments/v1", file);
  const text = readFileSync(path, "utf8");
  expect(text.split(from)).toHaveLength(2);
  writeFileSync(path, text.replace(from, to));
  const { code, stdout } = await runProgram("npm", ["run", "--silent", "breaking"], {
    cwd: folder,
    env: { ...process.env, PATH: `${process.cwd()}/node_modules/.bin:${process.env["PATH"]}` },
  });
  return { code, output: stdout.replace(/^\S+:\d+:\d+:/gm, "") };
}

test("the definitions build from a branch or tag of a Git URL", async () => {
  const folder = makeFolder();
  const url = makeProtoRepository(join(folder, "shipments"));
  const buf = join(process.cwd(), "node_modules/.bin/buf");
  for (const ref of ["branch=main", "tag=v0.1.0"]) {
    const input = `${url}#${ref},subdir=proto`;
    const ended = await runProgram(buf, ["build", input], { cwd: folder });
    expect(ended).toEqual({ code: 0, stdout: "", stderr: "" });
  }
});

test("the definitions build from the service's archive, which tar unpacks unchanged", async () => {
  const folder = makeFolder();
  const file = join(folder, "protos.tar.gz");
  writeFileSync(file, await protoArchive("."));
  const buf = join(process.cwd(), "node_modules/.bin/buf");
  const done = { code: 0, stdout: "", stderr: "" };
  expect(await runProgram(buf, ["build", file], { cwd: folder })).toEqual(done);
  expect(await runProgram("tar", ["-xf", file], { cwd: folder })).toEqual(done);
  rmSync(file);
  const names = (of: string) => readdirSync(of, { recursive: true, encoding: "utf8" }).toSorted();
  expect(names(folder)).toEqual(["LICENSE", "buf.yaml", "proto", ...names("proto").map((it) => `proto/${it}`)]);
  for (const name of names("proto").filter((it) => it.endsWith(".proto"))) {
    expect(readFileSync(join(folder, "proto", name))).toEqual(readFileSync(join("proto", name)));
  }
});

test("refuses a change that breaks clients of the last release", async () => {
  const field = "string external_reference = 12";
  const renumbered = await breakingAfter("shipment_service.proto", field, field.replace("12", "99"));
  expect(renumbered).toEqual({
    code: 100,
    output:
      'Previously present field "12" with name "external_reference" on message "CreateShipmentRequest" was deleted.\n',
  });
  const renamed = await breakingAfter("customer_service.proto", "rpc GetCustomer(", "rpc ReadCustomer(");
  expect(renamed).toEqual({
    code: 100,
    output: 'Previously present RPC "GetCustomer" on service "CustomerService" was deleted.\n',
  });
});

test("accepts a new field and a new comment", async () => {
  const last = "  string email = 3;\n";
  const more = `${last}  // Another.\n  string fax = 99;\n`;
  expect(await breakingAfter("customer.proto", last, more)).toEqual({ code: 0, output: "" });
});

test("the repository has the definitions of the changelog's last release, and package.json has its version or the next prerelease", () => {
  const [, released] = /^## (\d\S*) - /m.exec(readFileSync("CHANGELOG.md", "utf8"))!;
  expect(readdirSync("test/proto").filter((name) => name.endsWith(".gz"))).toEqual([`released-${released}.binpb.gz`]);
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const [next, ...suffix] = version.split("-");
  const order = next.localeCompare(released, undefined, { numeric: true });
  expect([order, ...suffix]).toEqual(order === 0 ? [0] : [1, "dev"]);
});
