import {
  OperatorKind,
  OperatorRole,
  type Operator,
} from "../../../gen/shipments/admin/v1/operator_pb.js";
import { Badge } from "../ui/badge.tsx";

export const OPERATOR_ROLES: Readonly<Record<OperatorRole, string>> = {
  [OperatorRole.UNSPECIFIED]: "Unknown",
  [OperatorRole.VIEWER]: "Viewer",
  [OperatorRole.OPERATOR]: "Operator",
  [OperatorRole.OWNER]: "Owner",
};

export const OPERATOR_KINDS: Readonly<Record<OperatorKind, string>> = {
  [OperatorKind.UNSPECIFIED]: "Unknown",
  [OperatorKind.PERSON]: "Person",
  [OperatorKind.MACHINE]: "Machine",
};

/** The field of a request that chooses a role. */
export const ROLE_FIELD = {
  label: "Role",
  choices: [
    [String(OperatorRole.VIEWER), "Viewer: sees everything"],
    [String(OperatorRole.OPERATOR), "Operator: changes everything but operators"],
    [String(OperatorRole.OWNER), "Owner: changes operators too"],
  ],
} as const;

export function OperatorBadge({ operator }: { readonly operator: Operator }) {
  return operator.revokedAt === undefined ? (
    <Badge tone="good">Active</Badge>
  ) : (
    <Badge tone="bad">Revoked</Badge>
  );
}

export function isSelf({ kind, email }: Operator, ownEmail: string): boolean {
  return kind === OperatorKind.PERSON && email?.toLowerCase() === ownEmail.toLowerCase();
}
