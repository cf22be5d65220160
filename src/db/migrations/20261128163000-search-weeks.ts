/**
 * Divides the word index of shipments by week. Each statement runs in its own transaction, because both lock the table.
 */
export const isTransactional = false;

const WORDS = String.raw`
create index if not exists "shipment_words" on "shipment" using gin ((array_to_tsvector(string_to_array(workspace_id::text || '.' || floor(extract(epoch from created_at at time zone 'UTC') / 604800)::int::text || '/' || regexp_replace(lower(coalesce(external_reference, '') || ' ' || coalesce(dropoff_address, '') || ' ' || coalesce(pickup_address, '') || ' ' || coalesce(cancel_note, '') || ' ' || coalesce(recipient_name, '') || ' ' || coalesce(recipient_phone, '') || ' ' || coalesce('←' || reverse(recipient_phone), '') || ' ' || coalesce(recipient_email, '') || ' ' || coalesce(pickup_contact_name, '') || ' ' || coalesce(pickup_contact_phone, '') || ' ' || coalesce('←' || reverse(pickup_contact_phone), '') || ' ' || coalesce(pickup_instructions, '') || ' ' || coalesce(dropoff_instructions, '') || ' ' || coalesce(package_description, '') || ' ' || coalesce(left(jsonb_path_query_array(items, '$[*].name')::text, 2000), '') || ' ' || coalesce(left(jsonb_path_query_array(items, '$[*].externalId')::text, 2000), '') || ' ' || coalesce(progress #>> '{courier,name}', '') || ' ' || coalesce(progress #>> '{courier,phone}', '') || ' ' || coalesce('←' || reverse(progress #>> '{courier,phone}'), '') || ' ' || coalesce(progress #>> '{courier,externalId}', '') || ' ' || coalesce(left(replace(replace(jsonb_path_query_array(metadata, '$.*')::text, '\n', ' '), '\t', ' '), 2000), '')), '[\x01-/:-@[-\x60{-\x7f\u00a0\u2000-\u206f\u3000]+', ' ' || workspace_id::text || '.' || floor(extract(epoch from created_at at time zone 'UTC') / 604800)::int::text || '/', 'g'), ' ')))) with (gin_pending_list_limit = 64)
`;

export const statements = ['drop index if exists "shipment_words"', WORDS.trim()];
