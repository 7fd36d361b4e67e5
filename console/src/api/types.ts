// Short names for types of the generated client.
import type {
  ActivityGetListResult,
  DashboardTokenGetListResult,
  InstanceGetResult,
  InstanceReplicaScalingUpdateBody,
  OpenapiKeyCreateBody,
  OpenapiKeyGetResult,
  OpenapiKeyUpdateBody,
  OrganizationRoleGetResult,
  OrganizationRolePostBody,
  UsageCostGetResult,
} from './generated.ts';

export type Service = InstanceGetResult;
/** Memory per replica. */
export type ScalingChange = Omit<InstanceReplicaScalingUpdateBody, 'autoscalingMode'>;
export type Key = OpenapiKeyGetResult;
export type NewKey = OpenapiKeyCreateBody;
export type KeyChange = OpenapiKeyUpdateBody;
export type Role = OrganizationRoleGetResult;
export type NewRole = OrganizationRolePostBody;
export type Token = DashboardTokenGetListResult[number];
export type Activity = ActivityGetListResult[number];
type UsageCost = UsageCostGetResult;
export type CostRecord = UsageCost['costs'][number];
