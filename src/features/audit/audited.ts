import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { OperatorService } from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { WorkspaceAdminService } from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { ApiKeyService } from "../../../gen/shipments/v1/api_key_service_pb.js";
import { MemberService } from "../../../gen/shipments/v1/member_service_pb.js";

/** The action of somebody who signs in by a link that somebody else has made. It is no method. */
export const SIGN_IN = "SignIn";

/** What changes the platform, or who may act for a workspace. */
export const AUDITED_ACTIONS: readonly string[] = [
  OperatorService,
  WorkspaceAdminService,
  TariffService,
  ApiKeyService,
  MemberService,
]
  .flatMap(({ methods }) => methods)
  .filter(({ idempotency }) => idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS)
  .map(({ name }) => name)
  .concat(SIGN_IN);

/** What can be changed: the subject of an entry is one of these, a slash and its id. */
export const AUDITED_KINDS = [
  "workspace",
  "api_key",
  "person",
  "operator",
  "tariff_draft",
  "tariff_version",
] as const;
