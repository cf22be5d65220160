/**
 * Where the id of who has signed in with this browser is, and when, for all of its tabs: they hear of a
 * change. Removed by signing out.
 */
export const PERSON_KEY = "person";
