/**
 * Returns the SQL condition that a lower-case key begins with a parameter, ignoring case, as a
 * range scan of its index. The upper bound uses the last Unicode character.
 *
 * @param key an expression of collation C
 */
export function beginsWith(key: string, parameter: string): string {
  return `${key} >= lower(${parameter}) and ${key} < lower(${parameter}) || chr(1114111)`;
}
