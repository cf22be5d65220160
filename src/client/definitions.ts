/*
 * The messages, enums and services of workspaces, as buf generates them from `proto/shipments/v1`.
 */
export * from "../../gen/shipments/v1/address_service_pb.js";
export * from "../../gen/shipments/v1/api_key_pb.js";
export * from "../../gen/shipments/v1/api_key_service_pb.js";
export * from "../../gen/shipments/v1/batch_pb.js";
export * from "../../gen/shipments/v1/courier_pb.js";
export * from "../../gen/shipments/v1/coverage_service_pb.js";
export * from "../../gen/shipments/v1/customer_pb.js";
export * from "../../gen/shipments/v1/customer_service_pb.js";
export * from "../../gen/shipments/v1/event_pb.js";
export * from "../../gen/shipments/v1/event_service_pb.js";
export * from "../../gen/shipments/v1/member_pb.js";
export * from "../../gen/shipments/v1/member_service_pb.js";
export * from "../../gen/shipments/v1/payment_connection_service_pb.js";
export * from "../../gen/shipments/v1/payment_pb.js";
export * from "../../gen/shipments/v1/quote_pb.js";
export * from "../../gen/shipments/v1/quote_service_pb.js";
export * from "../../gen/shipments/v1/report_pb.js";
export * from "../../gen/shipments/v1/report_service_pb.js";
export * from "../../gen/shipments/v1/shipment_count_pb.js";
export * from "../../gen/shipments/v1/shipment_pb.js";
export * from "../../gen/shipments/v1/shipment_service_pb.js";
export * from "../../gen/shipments/v1/simulation_pb.js";
export * from "../../gen/shipments/v1/test_service_pb.js";
export * from "../../gen/shipments/v1/webhook_pb.js";
export * from "../../gen/shipments/v1/webhook_service_pb.js";
export * from "../../gen/shipments/v1/window_pb.js";
export * from "../../gen/shipments/v1/workspace_service_pb.js";
