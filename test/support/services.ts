import { CustomerService } from "../../gen/shipments/v1/customer_service_pb.js";
import { ShipmentService } from "../../gen/shipments/v1/shipment_service_pb.js";
import { WorkspaceService } from "../../gen/shipments/v1/workspace_service_pb.js";

/** Every service of ours, in the order in which they are registered. */
export const SERVICES = [ShipmentService, CustomerService, WorkspaceService] as const;
