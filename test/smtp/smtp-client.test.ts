import { expect, test } from "vitest";
import { createSmtpClient, transportOptions, type OutgoingMail } from "../../src/smtp/smtp-client.ts";
import { startMailServer } from "../support/mail-server.ts";

const MAIL: OutgoingMail = {
  messageId: "<1@example.org>",
  to: "ada@example.org",
  subject: "Your link",
  text: "A link",
  html: "<p>A link</p>",
};
const never = new AbortController().signal;
const clientOf = (url: string) => createSmtpClient({ url, from: "no-reply@example.org" });

test.each([
  ["smtps://smtp.example.org", { host: "smtp.example.org", secure: true, requireTLS: false }],
  ["smtp://smtp.example.org:25", { port: 25, secure: false, requireTLS: false }],
  // A password is sent to another machine only over TLS.
  ["smtp://ada:secret@smtp.example.org:587", { port: 587, secure: false, requireTLS: true }],
  ["smtp://ada:secret@localhost", { secure: false, requireTLS: false }],
  ["smtp://ada:secret@[::1]:2525", { host: "::1", requireTLS: false }],
  ["smtps://ada%40example.org:a%2Fb@h", { auth: { user: "ada@example.org", pass: "a/b" } }],
] as const)("connects to %s with %j", (url, options) => {
  expect(transportOptions(url)).toMatchObject(options);
});

test("sends a mail with user name and password", async () => {
  const server = await startMailServer({
    authOptional: false,
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, callback) {
      const isKnown = username === "ada" && password === "s:cret";
      callback(isKnown ? null : new Error("unknown"), { user: username });
    },
  });
  const withUser = (user: string) => clientOf(server.url.replace("//", `//${user}@`));
  expect(await withUser("ada:s%3Acret").send(MAIL, never)).toBeUndefined();
  expect(server.mails.map(({ to, text }) => [to, text])).toEqual([[["ada@example.org"], "A link\n"]]);
  expect(await withUser("ada:wrong").send(MAIL, never)).toEqual({
    kind: "unreachable",
    code: "EAUTH",
    status: 535,
  });
});

test.each([
  "=?utf-8?q?Pay=20here?=",
  "Ünal =?utf-8?B?UGF5?=: Your delivery is on its way, and will be there tomorrow. 📦".repeat(3),
])("a subject that contains an encoded word is received as written: %s", async (subject) => {
  const server = await startMailServer();
  expect(await clientOf(server.url).send({ ...MAIL, subject }, never)).toBeUndefined();
  const words = server.mails[0]!.headers["subject"]!.split(" ");
  expect(words.filter((word) => word.length > 75)).toEqual([]);
  const texts = words.map((word) => /^=\?UTF-8\?B\?(.*)\?=$/.exec(word)?.[1] ?? "");
  expect(texts.map((text) => Buffer.from(text, "base64").toString()).join("")).toBe(subject);
});

test("distinguishes an unreachable mail server from one that rejects a mail", async () => {
  const answers = new Map([
    ["550@example.org", 550],
    ["451@example.org", 451],
  ]);
  const server = await startMailServer({
    onRcptTo({ address }, _session, callback) {
      const responseCode = answers.get(address);
      callback(responseCode ? Object.assign(new Error(`not ${address}`), { responseCode }) : null);
    },
  });
  const client = clientOf(server.url);
  expect(await client.send({ ...MAIL, to: "550@example.org" }, never)).toEqual({
    kind: "refused",
    code: "EENVELOPE",
    status: 550,
  });
  expect(await client.send({ ...MAIL, to: "451@example.org" }, never)).toEqual({
    kind: "deferred",
    code: "EENVELOPE",
    status: 451,
  });
  await server.stop();
  expect(await client.send(MAIL, never)).toEqual({
    kind: "unreachable",
    code: "ESOCKET",
    status: undefined,
  });
});

test("aborts sending even if the server hangs", async () => {
  const giveUp = new AbortController();
  const server = await startMailServer({
    onMailFrom: () => giveUp.abort(),
  });
  expect(await clientOf(server.url).send(MAIL, giveUp.signal)).toEqual({
    kind: "unreachable",
    code: "EABORT",
    status: undefined,
  });
});
