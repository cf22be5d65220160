/**
 * Copies sign-in times to memberships. The name of a person who never signed in moves to the membership of the first
 * invitation, because only that workspace may see it. Each statement runs in its own transaction and can be repeated.
 */
export const isTransactional = false;

const SIGN_INS = `
  update membership set last_signed_in_at = person.last_signed_in_at from person
  where person.id = person_id and membership.last_signed_in_at is null
    and person.last_signed_in_at is not null`;

const INVITED_NAMES = `
  update membership set name = case
    when exists (
      select from membership as earlier
      where earlier.person_id = person.id
        and (earlier.created_at, earlier.workspace_id) < (membership.created_at, membership.workspace_id)
    ) then split_part(person.email, '@', 1) else person.name end
  from person
  where person.id = person_id and membership.name is null and person.last_signed_in_at is null`;

const OWN_NAMES = `
  update person set name = null
  where last_signed_in_at is null and exists (select from membership where person_id = person.id)`;

export const statements = [SIGN_INS, INVITED_NAMES, OWN_NAMES];
