// Short names for types of the generated client.
import type {
  ActivityGetListResult,
  InstanceGetResult,
  InstanceScalingUpdateBody,
  OpenapiKeyCreateBody,
  OpenapiKeyGetResult,
  UsageCostGetResult,
} from './generated.ts';

export type Service = InstanceGetResult;
export type ScalingChange = InstanceScalingUpdateBody;
export type Key = OpenapiKeyGetResult;
export type NewKey = OpenapiKeyCreateBody;
export type Activity = ActivityGetListResult[number];
type UsageCost = UsageCostGetResult;
export type CostRecord = UsageCost['costs'][number];
