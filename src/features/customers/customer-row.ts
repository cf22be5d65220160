/** A customer, as stored. */
export interface CustomerRow {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly idNumber: string | null;
}
