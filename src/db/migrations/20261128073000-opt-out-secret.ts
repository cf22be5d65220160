import { randomBytes } from "node:crypto";

const secret = randomBytes(32).toString("base64url");

/** One secret per process. The default is a constant, because PostgreSQL rewrites the whole table for a random default. */
export const statements = [
  `alter table "installation" add "opt_out_secret" text not null default '${secret}'`,
  `alter table "installation" alter "opt_out_secret" drop default`,
];
