/**
 * The condition that a key in lower case begins with a parameter, in whatever case, as a range of an index on
 * it: the last character of Unicode comes after all that can follow.
 *
 * @param key an expression of collation C
 */
export function beginsWith(key: string, parameter: string): string {
  return `${key} >= lower(${parameter}) and ${key} < lower(${parameter}) || chr(1114111)`;
}
