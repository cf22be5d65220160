/**
 * Returns an SQL condition that tests whether a lower-case key begins with a parameter in any case. It is a range
 * condition, so that PostgreSQL can scan the key's index. The upper bound appends the last Unicode character.
 *
 * @param key an expression with collation C
 */
export function beginsWith(key: string, parameter: string): string {
  return `${key} >= lower(${parameter}) and ${key} < lower(${parameter}) || chr(1114111)`;
}
