export interface UsageCostRow {
  organization_id: string;
  date: string;
  entity_type: string;
  entity_id: string;
  entity_name: string;
  data_warehouse_id: string;
  service_id: string | null;
  locked: number;
  storage_micros: number;
  backup_micros: number;
  compute_micros: number;
  data_transfer_micros: number;
  initial_load_micros: number;
  public_data_transfer_micros: number;
  inter_region_tier1_micros: number;
  inter_region_tier2_micros: number;
  inter_region_tier3_micros: number;
  inter_region_tier4_micros: number;
}

export interface PriceBookRow {
  version: number;
  effective_from: string;
  created_at: number;
  document: string;
}

export interface UsageLedgerRow {
  organization_id: string;
  date: string;
  entity_type: string;
  entity_id: string;
  meter: string;
  usage_date: string;
  quantity: string;
  price_version: number;
  unit_price: string;
  micros: number;
}

export interface UsageDayRow {
  organization_id: string;
  date: string;
  revision: number;
  rated_revision: number;
  rated_at: number;
  locked: number;
  events: number | null;
  mismatch: string | null;
}

export interface UsageIntakeRow {
  organization_id: string;
  holder: string;
  expires_at: number;
  days: string;
}

export interface BudgetRow {
  organization_id: string;
  id: string;
  document: string;
}

export interface BudgetNoticeRow {
  organization_id: string;
  budget_id: string;
  month: string;
  threshold: string;
  created_at: number;
  attempts: number;
  next_attempt_at: number | null;
  document: string;
}
