/**
 * SQL for the number of the version in force by the database's clock, or null: the highest of those
 * whose time has come and that were not called off. Every replica and every booking goes by it. As of
 * the statement, not of its transaction, which may have begun before a version was published.
 */
export const VERSION_IN_FORCE = `(
  select max(version) from tariff_version
  where effective_at <= statement_timestamp() and called_off_at is null)`;

/**
 * SQL for the condition that a version can be the scheduled one: none is published while one waits, so
 * that it is above the one in force. What is older need not be looked at.
 */
export const AFTER_IN_FORCE = `version > coalesce(${VERSION_IN_FORCE}, 0)`;
