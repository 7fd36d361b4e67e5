export interface AlertRow {
  organization_id: string;
  id: string;
  saved_search_id: string | null;
  document: string;
  status: string;
  next_evaluation_at: number;
  created_at: number;
  updated_at: number;
}

export interface AlertGroupsRow {
  organization_id: string;
  alert_id: string;
  document: string;
}

export interface AlertEvaluationRow {
  organization_id: string;
  alert_id: string;
  evaluated_at: number;
  window_end: number;
  is_change: number;
  document: string;
}
