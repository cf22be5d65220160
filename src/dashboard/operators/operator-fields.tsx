import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import { SelectField } from "../ui/fields.tsx";

const ROLES = [
  [String(OperatorRole.VIEWER), "Viewer: sees everything"],
  [String(OperatorRole.OPERATOR), "Operator: changes everything but operators"],
  [String(OperatorRole.OWNER), "Owner: changes operators too"],
] as const;

/** What an operator may do: the field `role`. */
export function OperatorRoleField({ value }: { readonly value?: OperatorRole }) {
  return <SelectField name="role" label="Role" value={value} choices={ROLES} />;
}
