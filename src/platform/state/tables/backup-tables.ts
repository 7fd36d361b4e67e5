/** Backups of the data of services. */
export interface ServiceBackupRow {
  organization_id: string;
  id: string;
  service_id: string;
  chain_id: string;
  directory_id: string;
  status: string;
  pending: string | null;
  started_at: number;
  expire_at: number | null;
  size_bytes: number;
  document: string;
}
