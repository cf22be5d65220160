/** Adds the tracking settings of workspaces. Each statement runs in its own transaction. */
export const isTransactional = false;

export const statements = [
  `alter table "workspace" add if not exists "tracking_enabled" boolean not null default true,
      add if not exists "tracking_contact" text null, add if not exists "tracking_slug" text null,
      add if not exists "tracking_secret" text null`,
  `create unique index if not exists "workspace_tracking_slug" on "workspace" ("tracking_slug")`,
];
