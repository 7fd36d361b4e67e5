/** Searches and statements that people keep or ran. */
export interface SavedSearchRow {
  organization_id: string;
  id: string;
  source_id: string;
  document: string;
  created_at: number;
  updated_at: number;
}

export interface SqlHistoryRow {
  organization_id: string;
  service_id: string;
  credential_id: string;
  id: string;
  started_at: number;
  document: string;
}

export interface SqlIntentRow {
  organization_id: string;
  id: string;
  service_id: string;
  directory_id: string;
  started_at: number;
  document: string;
}

export interface SavedQueryRow {
  organization_id: string;
  service_id: string;
  id: string;
  created_at: number;
  name: string;
  database_name: string;
  document: string;
}
