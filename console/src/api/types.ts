// Short names for types of the generated client.
import type {
  ActivityGetListResult,
  DashboardTokenGetListResult,
  InstanceAutoscalingGetResult,
  InstanceAutoscalingHistoryGetResult,
  InstanceCreateBody,
  InstanceGetResult,
  InstanceIdleGetResult,
  InstanceReplicaScalingUpdateBody,
  InstanceStateUpdateBody,
  InstanceUpdateBody,
  InvitationGetListResult,
  MemberGetResult,
  MemberSessionGetListResult,
  OpenapiKeyCreateBody,
  OpenapiKeyGetResult,
  OpenapiKeyUpdateBody,
  OrganizationRoleGetResult,
  OrganizationRolePatchBody,
  OrganizationRolePostBody,
  UsageCostGetResult,
} from './generated.ts';

export type Service = InstanceGetResult;
export type IdleStatus = InstanceIdleGetResult;
export type Autoscaling = InstanceAutoscalingGetResult;
export type AutoscalingTimeline = InstanceAutoscalingHistoryGetResult;
export type NewService = InstanceCreateBody;
export type ServiceChange = InstanceUpdateBody;
export type ServiceCommand = InstanceStateUpdateBody['command'];
/** Memory per replica. */
export type ScalingChange = Omit<InstanceReplicaScalingUpdateBody, 'autoscalingMode' | 'minReplicas' | 'maxReplicas'>;
export type Key = OpenapiKeyGetResult;
export type NewKey = OpenapiKeyCreateBody;
export type KeyChange = OpenapiKeyUpdateBody;
export type Role = OrganizationRoleGetResult;
export type NewRole = OrganizationRolePostBody;
export type ChangedRole = OrganizationRolePatchBody;
export type Member = MemberGetResult;
export type Invitation = InvitationGetListResult[number];
export type SessionSummary = MemberSessionGetListResult[number];
export type Token = DashboardTokenGetListResult[number];
export type Activity = ActivityGetListResult[number];
type UsageCost = UsageCostGetResult;
export type CostRecord = UsageCost['costs'][number];
