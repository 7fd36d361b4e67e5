import type { Generated, Kysely } from 'kysely';
import type { AlertEvaluationRow, AlertGroupsRow, AlertRow } from './tables/alert-tables.ts';
import type { HourlyCountRow } from './tables/audit-tables.ts';
import type { ServiceBackupRow } from './tables/backup-tables.ts';
import type {
  BudgetNoticeRow,
  BudgetRow,
  PriceBookRow,
  UsageCostRow,
  UsageDayRow,
  UsageIntakeRow,
  UsageLedgerRow,
} from './tables/billing-tables.ts';
import type { ConsoleSessionRow, InvitationRow, MemberRow, UsedTokenRow, UserRow } from './tables/member-tables.ts';
import type { SavedQueryRow, SavedSearchRow, SqlHistoryRow, SqlIntentRow } from './tables/query-tables.ts';
import type { SecretKeyRow } from './tables/secret-tables.ts';
/** The portable schema: TEXT, BIGINT (as a safe integer) and DOUBLE PRECISION only. */
export interface Tables {
  organizations: OrganizationRow & {
    audit_sequence: Generated<number>;
    audit_hash: Generated<string>;
    audit_removed_sequence: Generated<number>;
    audit_removed_hash: Generated<string>;
    audit_removed_at: Generated<number>;
    role_revision: Generated<number>;
    telemetry_retention: Generated<string>;
    telemetry_limits: Generated<string>;
    telemetry_rules: Generated<string>;
    member_rules: Generated<string>;
    keep_sql_literals: Generated<number>;
  };
  activities: ActivityRow;
  api_keys: ApiKeyRow;
  key_roles: KeyRoleRow;
  custom_roles: CustomRoleRow;
  users: UserRow;
  members: MemberRow;
  invitations: InvitationRow;
  services: ServiceRow;
  service_tags: ServiceTagRow;
  service_removals: ServiceRemovalRow;
  resource_owners: { resource: string; organization_id: string; service_id: string };
  control_planes: { id: number; identity: string };
  leases: LeaseRow;
  service_backups: ServiceBackupRow;
  endpoint_ports: { port: number; organization_id: string; service_id: string; protocol: string };
  usage_slices: { organization_id: string; service_id: string; id: string; document: string };
  service_load: ServiceLoadRow;
  autoscaling_decisions: AutoscalingDecisionRow;
  usage_costs: UsageCostRow;
  dashboard_tokens: DashboardTokenRow;
  dashboard_links: DashboardLinkRow;
  dashboards: DashboardRow;
  dashboard_versions: DashboardVersionRow;
  deleted_dashboards: { organization_id: string; dashboard_id: string; deleted_at: number };
  annotations: AnnotationRow;
  dashboard_sources: DashboardSourceRow;
  alerts: AlertRow;
  alert_groups: AlertGroupsRow;
  alert_evaluations: AlertEvaluationRow;
  saved_searches: SavedSearchRow;
  sql_history: SqlHistoryRow;
  sql_intents: SqlIntentRow;
  saved_queries: SavedQueryRow;
  console_sessions: ConsoleSessionRow;
  used_tokens: UsedTokenRow;
  session_cookies: { id: number; suffix: string };
  idempotent_responses: IdempotentResponseRow;
  price_books: PriceBookRow;
  usage_ledger: UsageLedgerRow;
  usage_days: UsageDayRow;
  usage_engines: { id: number; identity: string; bound_at: number };
  lock_clocks: { id: number; passed_at: number };
  usage_intakes: UsageIntakeRow;
  rate_windows: { id: string; ends_at: number; taken: number };
  channels: ChannelRow;
  notifications: NotificationRow;
  budgets: BudgetRow;
  budget_notices: BudgetNoticeRow;
  fleet_documents: { organization_id: string; kind: string; id: string; document: string };
  fleet_turns: { id: number; turn: number };
  completed_restores: { id: number; restore_id: string; completed_at: number };
  setup_codes: { code_hash: string; created_at: number };
  store_checks: { id: number; count: number };
  secret_keys: SecretKeyRow;
  hourly_counts: HourlyCountRow;
  schema_migrations: { version: number; name: string; checksum: string; applied_at: number };
}

/** Runs SQL: the reader, or the transaction that `State.write` passes to its callback. */
export type Db = Kysely<Tables>;

export interface OrganizationRow {
  id: string;
  name: string;
  tier: string;
  paid: number;
  created_at: number;
  key_count: number;
  cost_revision: number;
  dashboard_revision: number;
  /** Of the dashboards, as of `counted_revision`. */
  dashboard_count: number;
  dashboard_bytes: number;
  counted_revision: number;
}

export interface ActivityRow {
  organization_id: string;
  id: string;
  created_at: number;
  document: string;
  type: string;
  actor_id: string;
  actor_name: string;
  resource_id: string;
  sequence: number;
  hash: string;
}

export interface ApiKeyRow {
  id: string;
  organization_id: string;
  key_id_hash: string;
  created_at: number;
  used_at: number | null;
  document: string;
  sort_name: string;
}

export interface KeyRoleRow {
  organization_id: string;
  /** The name of a system role, or the id of a custom role. */
  role: string;
  /** Of the key. */
  created_at: number;
  key_id: string;
}

export interface CustomRoleRow {
  organization_id: string;
  id: string;
  name: string;
  created_at: number;
  document: string;
}

export interface ServiceRow {
  id: string;
  organization_id: string;
  created_at: number;
  document: string;
  observed: string;
  sort_name: string;
  driver: string;
  generation: number;
  settled_generation: number;
  data_warehouse_id: string;
}

export interface ServiceTagRow {
  organization_id: string;
  /** Of the service. */
  id: string;
  /** `key`, or `key=value`. */
  tag: string;
  created_at: number;
  sort_name: string;
  warehouse_id: string | null;
}

interface ServiceRemovalRow extends Pick<ServiceRow, 'organization_id' | 'id' | 'driver' | 'document' | 'observed'> {
  removed_at: number;
}

export interface ServiceLoadRow {
  organization_id: string;
  service_id: string;
  hour: number;
  samples: string;
}

export interface AutoscalingDecisionRow {
  organization_id: string;
  service_id: string;
  id: string;
  created_at: number;
  is_applied: number;
  document: string;
}

interface LeaseRow {
  name: string;
  holder: string;
  host: string;
  pid: number;
  renewed_at: number;
  token: Generated<number>;
  process: Generated<string>;
}

export interface DashboardTokenRow {
  id: string;
  organization_id: string;
  name: string;
  token_hash: string;
  token_suffix: string;
  created_at: number;
  expire_at: number | null;
  used_at: number | null;
  access: string;
}

export interface DashboardLinkRow {
  id: string;
  organization_id: string;
  dashboard_id: string;
  name: string;
  secret_hash: string;
  secret_suffix: string;
  created_at: number;
  created_by: string;
  expire_at: number;
  used_at: number | null;
}

export interface DashboardRow {
  organization_id: string;
  id: string;
  name: string;
  document: string;
  created_at: number;
  updated_at: number;
  version: number;
  provisioned_from: string | null;
}

export interface DashboardVersionRow {
  organization_id: string;
  dashboard_id: string;
  version: number;
  saved_at: number;
  saved_by: string;
  provisioned_from: string | null;
  name: string;
  tile_count: number;
  document: string;
}

export interface AnnotationRow {
  organization_id: string;
  id: string;
  time: number;
  end_time: number;
  dashboard_id: string | null;
  document: string;
  created_by: string;
}

interface DashboardSourceRow {
  organization_id: string;
  id: string;
  name: string;
  document: string;
}

export interface ChannelRow {
  organization_id: string;
  id: string;
  service: string;
  name: string;
  document: string;
  created_at: number;
  updated_at: number;
}

export interface NotificationRow {
  organization_id: string;
  id: string;
  channel_id: string | null;
  subject_type: string;
  subject_id: string;
  event_id: string;
  status: string;
  created_at: number;
  attempts: number;
  next_attempt_at: number | null;
  document: string;
}

interface IdempotentResponseRow {
  organization_id: string;
  credential_id: string;
  key_hash: string;
  request_hash: string;
  created_at: number;
  result: string | null;
  headers: string;
}
