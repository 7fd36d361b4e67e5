import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type {
  Operations,
  TelemetryGetResult,
  TelemetryRulesGetResult,
  TelemetryStorageGetResult,
  TelemetryUsageGetResult,
} from '../../api/generated.ts';
import { PERIOD_MS, type Period } from './search.ts';

export type Report = TelemetryGetResult;
export type Sender = Report['senders'][number];
export type Rejection = Report['rejections'][number];
export type Signal = Sender['signal'];
export type Storage = TelemetryStorageGetResult;
export type Usage = TelemetryUsageGetResult;
export type Rule = TelemetryRulesGetResult['rules'][number];

/** What to show of the received telemetry. */
export type Filter = Partial<Pick<Sender, 'tokenId' | 'serviceName' | 'signal'>>;

const WAITING_MS = 2000;
const POLL_MS = 10_000;
/** It reads a sample of the rows. */
const STORAGE_POLL_MS = 60_000;

const hasRecords = ({ buckets }: Report): boolean => buckets.some(({ acceptedRecords }) => acceptedRecords > 0);

export const reportQuery = (api: Operations, organizationId: string, period: Period, filter: Filter) =>
  queryOptions({
    queryKey: [organizationId, 'telemetry', 'report', period, filter],
    queryFn: ({ signal }) => {
      const from = new Date(Date.now() - PERIOD_MS[period]).toISOString();
      return api.telemetryGet({ organizationId, from, ...filter }, { signal });
    },
    placeholderData: keepPreviousData,
    staleTime: 0,
    refetchInterval: POLL_MS,
  });

/** What arrived in the last day, with one token or with any. Read every two seconds until the first record was stored. */
export const arrivalQuery = (api: Operations, organizationId: string, tokenId: string | undefined) =>
  queryOptions({
    queryKey: [organizationId, 'telemetry', 'arrival', tokenId ?? ''],
    queryFn: ({ signal }) => {
      const from = new Date(Date.now() - PERIOD_MS['24h']).toISOString();
      return api.telemetryGet({ organizationId, from, ...(tokenId === undefined ? {} : { tokenId }) }, { signal });
    },
    staleTime: 0,
    refetchInterval: ({ state: { data } }) => (data && hasRecords(data) ? POLL_MS : WAITING_MS),
  });

export const storageQuery = (api: Operations, organizationId: string) =>
  queryOptions({
    queryKey: [organizationId, 'telemetry', 'storage'],
    queryFn: ({ signal }) => api.telemetryStorageGet({ organizationId }, { signal }),
    refetchInterval: STORAGE_POLL_MS,
  });

export const usageQuery = (api: Operations, organizationId: string, period: Period) =>
  queryOptions({
    queryKey: [organizationId, 'telemetry', 'usage', period],
    queryFn: ({ signal }) => {
      const from = new Date(Date.now() - PERIOD_MS[period]).toISOString();
      return api.telemetryUsageGet({ organizationId, from }, { signal });
    },
    placeholderData: keepPreviousData,
    refetchInterval: STORAGE_POLL_MS,
  });

export const rulesQuery = (api: Operations, organizationId: string) =>
  queryOptions({
    queryKey: [organizationId, 'telemetry', 'rules'],
    queryFn: ({ signal }) => api.telemetryRulesGet({ organizationId }, { signal }),
  });

export const retentionQuery = (api: Operations, organizationId: string) =>
  queryOptions({
    queryKey: [organizationId, 'telemetry', 'retention'],
    queryFn: ({ signal }) => api.telemetryRetentionGet({ organizationId }, { signal }),
  });
