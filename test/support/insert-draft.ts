import type pg from "pg";

/** Offset at which a draft's zones are split into two chunks, in bytes. */
const CUT = 101;

/**
 * Inserts a draft with its zones in two chunks, and returns its id.
 *
 * @param zones zones of the draft. Text and bytes are stored unchanged, other values as JSON
 */
export async function insertDraft(
  client: pg.Client,
  { zones, ...fees }: { readonly zones?: unknown },
): Promise<number> {
  const isText = typeof zones === "string" || Buffer.isBuffer(zones);
  const data = Buffer.from(isText ? zones : (JSON.stringify(zones) ?? ""));
  const { rows } = await client.query<{ id: string }>(
    `with draft as (
       insert into tariff_draft (name, author, fees, zones_bytes, revision, created_at, updated_at)
       values ('Spring', 'Ada', $1, octet_length($2::bytea), 1, now(), now()) returning id),
     pieces as (
       insert into tariff_draft_piece (draft_id, begin, data)
       select id, cut.begin, substr($2::bytea, cut.begin + 1, cut.size)
       from draft, (values (${CUT}, octet_length($2::bytea)), (0, ${CUT})) cut (begin, size)
       where cut.begin < octet_length($2::bytea))
     select id from draft`,
    [JSON.stringify(fees), data],
  );
  return Number(rows[0]!.id);
}
